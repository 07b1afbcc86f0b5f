import { describe, expect } from "bun:test"
import { Context, Effect, Layer, Option } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { makeClient } from "../../../src/client/index.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { logging } from "../../../src/observability/Logging.ts"
import { it } from "../../support/Effect.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

/** Returns the notices in the first response for a page, on a machine with these isolation levels. */
const noticesOf = (isolation: "auto" | "off", levels: typeof defaultSandboxSettings.levels) =>
  Effect.gen(function* () {
    const dataDir = yield* migratedFolder
    const settings = yield* loadSettings(
      new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "error", runnerIsolation: isolation })),
      Option.none()
    )
    const services = yield* Layer.build(
      controlPlane(settings).pipe(Layer.provideMerge(logging({ level: "error", format: "json" })))
    )
    const user = yield* Context.get(services, Users).create(serviceContext, {
      email: "ada@example.com",
      isOperator: true
    })
    const tokens = Context.get(services, AccessTokens)
    const { secret } = yield* tokens.create(serviceContext, user.subject, { name: "test", scopes: ["read", "write"] })
    const client = yield* makeClient({ baseUrl: Context.get(services, HttpListener).url, token: secret })
    return (yield* client.dashboard.bootstrap({ query: {} })).notices ?? []
  }).pipe(Effect.provideService(SandboxSettings, { ...defaultSandboxSettings, levels }), Effect.provide(platform))

describe("Isolation notice", () => {
  it.live("the isolation notice is absent when Runs are isolated", () =>
    Effect.gen(function* () {
      const notices = yield* noticesOf("auto", defaultSandboxSettings.levels)
      if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(notices).toEqual([])
      expect(notices).not.toContain("isolation_off")
    })
  )

  it.live("the isolation notice reports that Runs are refused when no level works", () =>
    Effect.gen(function* () {
      expect(yield* noticesOf("auto", [])).toEqual(["runs_refused"])
    })
  )

  it.live("the isolation notice reports that modules are not isolated when the operator has disabled isolation", () =>
    Effect.gen(function* () {
      expect(yield* noticesOf("off", defaultSandboxSettings.levels)).toEqual(["isolation_off"])
    })
  )
})
