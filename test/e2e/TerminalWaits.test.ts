import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { it } from "../support/Effect.ts"
import { awayServer } from "./support/Away.ts"
import { heldApply } from "./support/HeldApply.ts"
import { services } from "./support/NetworkShell.ts"
import { atTerminal, shellOf } from "./support/Shell.ts"

setDefaultTimeout(120_000)

const isUnfit = Bun.which("bash") === null && process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

describe.skipIf(isUnfit)("Terminal waits", () => {
  it.live("a command that waits prints the Run's id first, and survives a restart of the server", () =>
    Effect.gen(function* () {
      const held = yield* heldApply({})
      const server = yield* awayServer(held.url)
      const shell = yield* shellOf({ SVC_URL: server.url, SVC_TOKEN: held.token })
      const person = yield* atTerminal(shell, `svc run watch ${held.runId}`)
      const script = yield* atTerminal(shell, `svc run watch ${held.runId} --json`)
      yield* person.shows("applying ...")
      expect(person.screen().split("\r\n")[0]).toBe(`apply ${held.runId}`)
      yield* script.shows(`{"run":{"id":"${held.runId}"}}`)
      yield* server.leaves
      yield* person.shows("cannot be reached; waiting for it.")
      const short = yield* shell.run(`svc run watch ${held.runId} --server ${held.url} --wait-timeout 1s`)
      expect([short.code, short.error]).toEqual([7, expect.stringContaining(`The Run ${held.runId} did not end`)])
      yield* held.release
      yield* server.returns
      expect([yield* person.code, yield* script.code]).toEqual([0, 0])
      expect(person.screen()).toContain("1 created.")
      expect(person.screen().split("cannot be reached").length).toBe(2)
    }).pipe(Effect.provide(services))
  )
})
