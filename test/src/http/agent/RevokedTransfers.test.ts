import { randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentBlobs } from "../../../../actors/running/agent/AgentBlobs.ts"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { agentPath } from "../../../../schema/agent/Blob.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { begun, farPlane, offerTo, world } from "../support/FarPlane.ts"
import { digestOf, type TestAgent } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

/** A file larger than the buffers at both ends of a connection, so the transfer cannot finish early. */
const largeBytes = 16 * 1024 * 1024
const large = randomBytes(largeBytes).toString("base64")

const revoked = (agent: TestAgent) => Effect.flatMap(Agents, (agents) => agents.revoke(agent.agentId))

const ends = [
  { how: "its agent is revoked", end: revoked },
  {
    how: "its agent has new keys",
    end: (agent: TestAgent) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE agents SET sign_key = ${`new ${agent.agentId}`} WHERE id = ${agent.agentId}`
      )
  }
]

/** Creates an agent that holds a Run, and a second agent. */
const holding = Effect.fnUntraced(function* (branch: string, files: Readonly<Record<string, string>> = {}) {
  const { enrolled, origin } = yield* world
  const agent = yield* enrolled()
  yield* begun(branch, files)
  const { offer } = yield* offerTo(agent)
  yield* agent.as(agent.client.Accept(offer))
  const other = yield* enrolled()
  const claim = { runId: offer.runId, fence: offer.fence }
  const { hostname, port } = new URL(origin)
  const socket: Socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect({ host: hostname, port: Number(port) })),
    (open) => Effect.sync(() => open.destroy())
  )
  const token = yield* agent.token
  const head = (method: string, kind: string, digest: string, more: ReadonlyArray<string> = []) =>
    [
      `${method} ${agentPath}/runs/${claim.runId}/${claim.fence}/${kind}/${digest} HTTP/1.1`,
      `host: ${hostname}`,
      `authorization: Bearer ${token}`,
      ...more,
      "",
      ""
    ].join("\r\n")
  return { agent, claim, head, offer, other, socket }
})

plane.live(
  "a download is cut off midway when its agent is revoked",
  () =>
    Effect.gen(function* () {
      const { agent, head, offer, other, socket } = yield* holding("download", { "large.txt": large })
      let received = 0
      let isClosed = false
      socket.on("error", () => {})
      socket.on("close", () => {
        isClosed = true
      })
      socket.write(head("GET", "snapshot", offer.snapshot))
      yield* Effect.callback<void>((resume) => {
        socket.once("data", (bytes) => {
          received += bytes.length
          socket.pause()
          resume(Effect.void)
        })
      })
      yield* revoked(other)
      yield* revoked(agent)
      socket.on("data", (bytes) => {
        received += bytes.length
      })
      socket.resume()
      yield* eventually(
        Effect.sync(() => isClosed || received > largeBytes),
        (over) => over
      )
      expect({ isClosed, isWhole: received > largeBytes }).toEqual({ isClosed: true, isWhole: false })
    }),
  60_000
)

for (const [index, { end, how }] of ends.entries()) {
  plane.live(
    `an upload is refused before it is complete when ${how}`,
    () =>
      Effect.gen(function* () {
        const { agent, claim, head, other, socket } = yield* holding(`upload-${index}`)
        const bytes = randomBytes(1024 * 1024)
        const half = bytes.length / 2
        let answer = ""
        socket.on("data", (text) => {
          answer += text.toString("latin1")
        })
        const more = [
          `content-range: bytes 0-${bytes.length - 1}/${bytes.length}`,
          `content-length: ${bytes.length}`,
          "content-type: application/octet-stream"
        ]
        socket.write(head("PUT", "plan_file", digestOf(bytes), more))
        socket.write(bytes.subarray(0, half))
        const blobs = yield* AgentBlobs
        yield* eventually(blobs.receivedAt(claim), (at) => at > 0)
        yield* revoked(other)
        // The download has already passed its first check. Revoking another agent does not interrupt it.
        expect((yield* agent.get(claim, "plan_file", digestOf(bytes))).status).toBe(404)
        expect(answer).toBe("")
        yield* end(agent)
        yield* eventually(
          Effect.sync(() => answer),
          (text) => text !== ""
        )
        expect(answer).toStartWith("HTTP/1.1 401 ")
        expect(yield* blobs.isComplete(claim, "plan_file", digestOf(bytes))).toBe(false)
      }),
    60_000
  )
}
