// An ordinary member in a separate process, so that its work does not count as the server's. Prints for each response its
// due time, its duration in milliseconds and its status.
import { setInterval } from "node:timers"

const [url = "", workspaceId = "", sourceId = "", token = ""] = process.argv.slice(2)
const readEvery = 20
const writeEvery = 1000
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
const reads = [
  `/api/v1/workspaces/${workspaceId}`,
  `/api/v1/sources?workspaceId=${workspaceId}`,
  `/api/v1/workspaces/${workspaceId}/runs?limit=20`,
  `/api/v1/sources/${sourceId}`,
  `/api/v1/workspaces/${workspaceId}/capsules`
]

/** Sends each request without waiting for earlier responses, so that the full delay of each request is measured. */
const ask = async (path: string, init: RequestInit) => {
  const due = performance.timeOrigin + performance.now()
  let status = 0
  try {
    const answer = await fetch(`${url}${path}`, { ...init, headers })
    await answer.arrayBuffer()
    ;({ status } = answer)
  } catch {
    // A refused or dropped connection counts as status 0.
  }
  const millis = performance.timeOrigin + performance.now() - due
  process.stdout.write(`${due.toFixed(3)} ${millis.toFixed(3)} ${status}\n`)
}

let turn = 0
setInterval(() => {
  turn += 1
  void ask(reads[turn % reads.length] ?? "", {})
}, readEvery)
setInterval(() => {
  const status = turn % 2 === 0 ? "active" : "disabled"
  void ask(`/api/v1/sources/${sourceId}`, { method: "PATCH", body: JSON.stringify({ status }) })
}, writeEvery)
