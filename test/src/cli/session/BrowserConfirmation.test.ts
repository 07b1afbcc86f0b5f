import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { ConfigProvider, Context, Effect, Exit, Fiber, Layer, Redacted, Schedule } from "effect"
import { TestConsole } from "effect/testing"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { run } from "../../../../src/cli/Run.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { suite } from "../../../support/Effect.ts"
import { servedPlane } from "../../http/support/ServedPlane.ts"

setDefaultTimeout(60_000)

class Plane extends Context.Service<Plane, Effect.Success<ReturnType<typeof servedPlane>>>()(
  "test/cli/session/BrowserConfirmation/Plane"
) {}

const tests = suite(Layer.effect(Plane, servedPlane({ files: { "main.tf": "" } })).pipe(Layer.provideMerge(platform)))
afterAll(tests.dispose)

/** Waits until the program's error output contains the request for confirmation, and returns the output. */
const asked = Effect.map(TestConsole.errorLines, (lines) => lines.join("\n")).pipe(
  Effect.filterOrFail((text) => text.includes("shows the code")),
  Effect.retry(Schedule.spaced("25 millis"))
)

const newSource = Effect.fnUntraced(function* (name: string) {
  const { call, repositoryUrl, workspaceId } = yield* Plane
  const body = { workspaceId, name, url: repositoryUrl }
  yield* call("POST", "/api/v1/sources", { body, headers: { "idempotency-key": `source-${name}` } })
})

/** Runs the program in a terminal, with the person's token. */
const atTerminal = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { services, subject, url } = yield* Plane
    const token = { name: "terminal", scopes: ["read", "write"] }
    const { secret } = yield* Context.get(services, AccessTokens).create(serviceContext, subject, token)
    const environment = { HOME: "/nonexistent", SVC_URL: url, SVC_TOKEN: Redacted.value(secret) }
    return yield* Effect.provide(
      use,
      Layer.mergeAll(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)), TestConsole.layer)
    )
  })

const decide = Effect.fnUntraced(function* (decision: "approve" | "deny") {
  const { asPerson, call } = yield* Plane
  const [, userCode = ""] = /shows the code (\S+)\./.exec(yield* asked) ?? []
  return (yield* call("POST", "/auth/confirmation/decide", { headers: asPerson, body: { userCode, decision } })).status
})

tests.live("svc source hook-secret prints a new secret once the person has approved the action in the browser", () =>
  Effect.gen(function* () {
    const { sql, url } = yield* Plane
    yield* newSource("network")
    yield* Effect.gen(function* () {
      const command = yield* Effect.forkChild(run(["source", "hook-secret", "network", "--no-browser"]))
      const [, address = ""] = /open (\S+)/.exec(yield* asked) ?? []
      expect(address).toStartWith(`${url}/confirm?code=`)
      expect(yield* decide("approve")).toBe(204)
      yield* Fiber.join(command)
      const printed = (yield* TestConsole.logLines).join("\n")
      expect(printed).toContain("Secret                ")
    }).pipe(atTerminal)
    // Confirming the action did not open a session.
    expect(yield* sql`SELECT id FROM account_sessions`).toHaveLength(1)
  })
)

tests.live("svc source hook-secret changes nothing if the person denies the action", () =>
  Effect.gen(function* () {
    const { sql } = yield* Plane
    yield* newSource("denied")
    yield* Effect.gen(function* () {
      const command = yield* Effect.forkChild(Effect.exit(run(["source", "hook-secret", "denied", "--no-browser"])))
      expect(yield* decide("deny")).toBe(204)
      const exit = yield* Fiber.join(command)
      expect(Exit.isFailure(exit)).toBe(true)
      expect((yield* TestConsole.errorLines).join("\n")).toContain("The action was denied in the browser.")
    }).pipe(atTerminal)
    const rows = yield* sql`SELECT hook_secret_version AS version FROM sources WHERE name = 'denied'`
    expect(rows).toEqual([{ version: 1 }])
  })
)
