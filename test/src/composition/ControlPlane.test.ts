import { describe, expect } from "bun:test"
import { Context, Effect, Layer, Option, Redacted, type Scope } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { ApiError, makeClient } from "../../../src/client/index.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { logging } from "../../../src/observability/Logging.ts"
import { OperatorListener } from "../../../src/observability/OperatorListener.ts"
import { it } from "../../support/Effect.ts"
import { collector } from "../observability/support/Collector.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)))

/** Creates a separate control plane with one account, and the typed client with that account's token. */
const start = Effect.fn("start")(function* (settings: Readonly<Record<string, string>> = {}) {
  const dataDir = yield* migratedFolder
  const loaded = yield* loadSettings(
    new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "error", ...settings })),
    Option.none()
  )
  const services = yield* Layer.build(
    controlPlane(loaded).pipe(Layer.provideMerge(logging({ level: "error", format: "json" })))
  )
  const { url } = Context.get(services, HttpListener)
  const operator = Context.get(services, OperatorListener).url
  const user = yield* Context.get(services, Users).create(serviceContext, {
    email: "ada@example.com",
    isOperator: true
  })
  const { secret } = yield* Context.get(services, AccessTokens).create(serviceContext, user.subject, {
    name: "test",
    scopes: ["read", "write"]
  })
  return { url, operator, token: secret, user, client: yield* makeClient({ baseUrl: url, token: secret }) }
})

describe("Embedded control plane", () => {
  live("two control planes run in one process with separate data", () =>
    Effect.gen(function* () {
      const [one, two] = yield* Effect.all([start(), start()])
      expect(one.url).not.toBe(two.url)
      const [ofOne, ofTwo] = yield* Effect.all([
        one.client.workspaces.list({ query: {} }),
        two.client.workspaces.list({ query: {} })
      ])
      expect(ofOne.workspaces).toHaveLength(1)
      expect(ofOne.workspaces[0]?.id).not.toBe(ofTwo.workspaces[0]?.id)
      const stranger = yield* makeClient({ baseUrl: two.url, token: one.token })
      const refused = yield* Effect.flip(stranger.workspaces.list({ query: {} }))
      expect(refused).toBeInstanceOf(ApiError)
      expect(refused).toMatchObject({ code: "invalid_token" })
    })
  )

  live("the typed client receives the control plane's refusals with their request ids", () =>
    Effect.gen(function* () {
      const { client } = yield* start()
      const missing = yield* Effect.flip(client.runs.read({ params: { runId: `run_${"q".repeat(24)}` } }))
      expect(missing).toMatchObject({ code: "not_found", status: 404 })
      expect(missing).toHaveProperty("requestId", expect.stringMatching(/^req_[a-z2-7]{16}$/))
      const discovery = yield* client.discovery.capabilities()
      expect(discovery.features).toMatchObject({ stacks: true, opentofu_runner: true })
      const boot = yield* client.dashboard.bootstrap({ query: {} })
      expect(boot.subject.email).toBe("ada@example.com")
      const overview = yield* client.dashboard.overview({ query: { workspaceId: boot.selectedWorkspaceId ?? "" } })
      expect([overview.capsules, overview.attention, overview.recentRuns]).toEqual([[], [], []])
    })
  )

  live("the control plane shows its metrics only to the operator, and opens no listener", () =>
    Effect.gen(function* () {
      const addresses = yield* Effect.scoped(
        Effect.gen(function* () {
          const { client, operator, token, url } = yield* start({ operatorListen: "127.0.0.1:0" })
          yield* client.discovery.capabilities()
          const metrics = yield* Effect.promise(() => fetch(`${operator}/metrics`).then((response) => response.text()))
          expect(metrics).toContain("svc_http_requests_total")
          expect(metrics).toContain("svc_runs_open")
          expect(metrics).not.toContain(Redacted.value(token))
          const elsewhere = yield* Effect.promise(() => fetch(`${url}/metrics`))
          expect(elsewhere.status).toBe(404)
          return [url, operator ?? ""]
        })
      )
      for (const gone of addresses) {
        const closed = yield* Effect.promise(() =>
          fetch(gone).then(
            () => false,
            () => true
          )
        )
        expect(closed).toBe(true)
      }
    })
  )

  live("the control plane exports spans, metrics and logs to a collector, without secrets", () =>
    Effect.gen(function* () {
      const telemetry = yield* collector
      const token = yield* Effect.scoped(
        Effect.gen(function* () {
          const { client, token } = yield* start({ otlpUrl: telemetry.origin })
          yield* client.workspaces.list({ query: {} })
          return token
        })
      )
      const all = telemetry.everything()
      expect(telemetry.bodies("/v1/traces")).not.toEqual([])
      expect(telemetry.bodies("/v1/metrics")).not.toEqual([])
      expect(all).toContain("workspaces.list")
      expect(all).not.toContain(Redacted.value(token))
    })
  )
})
