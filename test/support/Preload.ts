import { afterEach, setDefaultTimeout } from "bun:test"
import { configureGlobal } from "fast-check"
import { WebSocket } from "ws"
import { checked, seeMessage, takeFaults } from "./description/CheckedAnswers.ts"
import { recordStatements, samplesFolder } from "./StatementSamples.ts"

setDefaultTimeout(120_000)

// Records the statements that `npm test` executes, because `npm run test:postgres` prepares these statements on PostgreSQL.
if (samplesFolder !== undefined && process.env["SVC_TEST_POSTGRES"] === undefined) recordStatements(samplesFolder)

// All generated examples depend on this seed, so a new failure must be caused by a code change. `SVC_TEST_SEED=random`
// searches for new examples and prints its seed, which reproduces a failure.
const seed = process.env["SVC_TEST_SEED"] ?? "20261121"
configureGlobal(seed === "random" ? {} : { seed: Number(seed) })

// Compares every response of our server that a test receives with the API description.
const plainFetch = globalThis.fetch
globalThis.fetch = Object.assign(
  async (...[input, init]: Parameters<typeof plainFetch>) => {
    const response = await plainFetch(input, init)
    const given = input instanceof Request ? input : undefined
    return checked(
      {
        method: init?.method ?? given?.method ?? "GET",
        url: given?.url ?? String(input),
        headers: new Headers(init?.headers ?? given?.headers)
      },
      response
    )
  },
  { preconnect: plainFetch.preconnect }
)

// Also compares every message over our WebSockets with the API description.
const plainEmit = WebSocket.prototype.emit
WebSocket.prototype.emit = function emit(this: WebSocket, event: string | symbol, ...args: ReadonlyArray<unknown>) {
  if (event === "message") seeMessage(this.url, args[0])
  return Reflect.apply(plainEmit, this, [event, ...args])
}

afterEach(async () => {
  const faults = await takeFaults()
  if (faults.length > 0) {
    throw new Error(`Answers that differ from the description of the server:\n${[...new Set(faults)].join("\n")}`)
  }
})
