import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import type { ConnectionId, InstallPlanId, RunId, WorkspaceId } from "../../schema/records/Ids.ts"
import { RelativePath } from "../../schema/records/Primitives.ts"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { demo } from "../support/TestPlane.ts"
import { hostedRepository } from "./support/HostedRepository.ts"
import { appOrigin, hostedServer, publicOrigin } from "./support/HostedServer.ts"

setDefaultTimeout(180_000)

type Server = Effect.Success<ReturnType<typeof hostedServer>>

const surfaceList = Schema.decodeEffect(
  Schema.fromJsonString(
    Schema.Struct({ interfaces: Schema.Array(Schema.Struct({ id: Schema.String, key: Schema.String })) })
  )
)
const returned = Schema.decodeEffect(Schema.fromJsonString(Schema.Struct({ location: Schema.String })))
const noteContent = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Struct({
      key: Schema.String,
      url: Schema.String,
      oidc: Schema.Array(Schema.String),
      title: Schema.String,
      built: Schema.String
    })
  )
)

/** Polls until the condition holds, as any client must, because the server works in the background. */
const until = <A, E, R>(ask: Effect.Effect<A, E, R>, holds: (answer: A) => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const answer = yield* ask
      if (holds(answer)) return answer
      yield* Effect.sleep("30 millis")
    }
  })

const runOver = ({ client }: Server, runId: RunId) =>
  Effect.map(
    until(client.runs.read({ params: { runId } }), ({ run }) => run.status !== "queued" && run.status !== "running"),
    ({ run }) => run
  )

const installed = (server: Server, installPlanId: InstallPlanId) =>
  Effect.map(
    until(
      server.client.installPlans.read({ params: { installPlanId } }),
      ({ installPlan }) => installPlan.phase === "reviewable" || installPlan.phase === "failed"
    ),
    ({ installPlan }) => installPlan
  )

const install = Effect.fnUntraced(function* (
  server: Server,
  at: { readonly workspaceId: WorkspaceId; readonly connectionId: ConnectionId },
  module: string,
  variables: Readonly<Record<string, Schema.Json>> = {}
) {
  const { installPlan } = yield* server.client.installPlans.create({
    params: { workspaceId: at.workspaceId },
    headers: { "idempotency-key": `install-${module}` },
    payload: {
      source: { name: module, url: server.repositoryUrl },
      capsule: { name: module, environment: "test" },
      options: {
        modulePath: RelativePath.make(module),
        providerBindings: [{ provider: demo, moduleLocalName: "demo", connectionId: at.connectionId }]
      },
      variables
    }
  })
  const plan = yield* installed(server, installPlan.id)
  if (plan.planRunId === undefined || plan.capsuleId === undefined) {
    return yield* Effect.die(new Error(JSON.stringify(plan.diagnostics)))
  }
  return { plan, run: yield* runOver(server, plan.planRunId), capsuleId: plan.capsuleId }
})

const apply = Effect.fnUntraced(function* (server: Server, planRunId: RunId) {
  yield* server.client.runs.approve({ params: { runId: planRunId }, payload: {} })
  const { run } = yield* server.client.runs.apply({
    params: { runId: planRunId },
    headers: { "idempotency-key": `apply-${planRunId}` },
    payload: {}
  })
  return yield* runOver(server, run.id)
})

const surfaces = (server: Server, workspaceId: string) =>
  server.browse(`/api/v1/workspaces/${workspaceId}/ui-surfaces`).pipe(
    Effect.flatMap(({ text }) => surfaceList(text)),
    Effect.map(({ interfaces }) => interfaces)
  )

describe.skipIf(Bun.which("terraform") === null)("Hosted modules", () => {
  it.live(
    "a hosted module is planned, applied with delivered values, handed back, consumed by another Capsule, and destroyed",
    () =>
      Effect.gen(function* () {
        const server = yield* hostedServer(hostedRepository)
        const { browse, client, notesDir } = server
        const files = yield* FileSystem.FileSystem
        const { workspace } = yield* client.workspaces.create({ payload: { handle: "acme" } })
        const { connection } = yield* client.connections.create({
          payload: {
            workspaceId: workspace.id,
            provider: demo,
            displayName: "demo",
            values: { DEMO_TOKEN: "hosted-e2e-token-5521", DEMO_DIR: notesDir }
          }
        })
        const at = { workspaceId: workspace.id, connectionId: connection.id }

        // The module is correct, but its plan is refused because no Capsule provides the Interface yet.
        const reader = yield* install(server, at, "reader")
        expect(reader.plan.diagnostics.map(({ code }) => code)).toEqual(["interface_not_resolved"])
        expect([reader.run.status, reader.run.error?.code]).toEqual(["failed", "interface_not_resolved"])
        const planReader = client.capsules
          .plan({ params: { capsuleId: reader.capsuleId }, headers: {}, payload: {} })
          .pipe(Effect.flatMap((created) => runOver(server, created.run.id)))

        // Plan: discloses everything except secrets.
        const { capsuleId, plan, run } = yield* install(server, at, "app", { title: "An app" })
        expect(run.error).toBeUndefined()
        expect(run.status).toBe("waiting_approval")
        expect(run.sourceBuild).toEqual({
          commands: [
            { argv: ["mkdir", "out"], workingDirectory: "app" },
            { argv: ["cp", "words.txt", "app/out/words.txt"] }
          ],
          outputs: ["app/out"]
        })
        const { capsuleConfig } = yield* client.capsules.config({
          params: { capsuleConfigId: plan.installConfigId ?? "" }
        })
        expect(capsuleConfig.origin).toBe("repository_manifest")
        expect(capsuleConfig.sourceBuild).toEqual(run.sourceBuild)
        expect(JSON.stringify(capsuleConfig.presentation)).toContain('"look"')
        expect(capsuleConfig.variables.map(({ name, origin }) => [name, origin])).toContainEqual([
          "session_key",
          "host"
        ])
        expect((yield* browse("/.well-known/openid-configuration")).text).toContain(publicOrigin)

        // Apply: the real provider receives the values that the host delivered.
        const applied = yield* apply(server, run.id)
        expect([applied.status, applied.error]).toEqual(["succeeded", undefined])
        const [note = ""] = (yield* files.readDirectory(notesDir)).filter((name) => name.endsWith(".json"))
        const { outputs } = yield* client.capsules.outputs({ params: { capsuleId } })
        const content = yield* noteContent(outputs.find(({ name }) => name === "content")?.value)
        expect(yield* files.readFileString(`${notesDir}/${note}`)).toContain(content.key)
        expect(content).toEqual({
          key: expect.stringMatching(/^[0-9a-f]{64}$/),
          url: appOrigin,
          oidc: [publicOrigin, publicOrigin, expect.any(String), `${appOrigin}/auth/callback`],
          title: "An app",
          built: "built words"
        })

        // The OpenID client exists and accepts only its own redirect address.
        const authorize = (redirect: string) =>
          browse(
            `/oauth/authorize?${new URLSearchParams({
              client_id: content.oidc[2] ?? "",
              redirect_uri: redirect,
              response_type: "code",
              scope: "openid",
              code_challenge: "a".repeat(43),
              code_challenge_method: "S256",
              prompt: "none"
            })}`
          )
        const known = yield* authorize(`${appOrigin}/auth/callback`)
        expect(known.headers.get("location")).toStartWith(`${appOrigin}/auth/callback?`)
        expect((yield* authorize(`${appOrigin}/elsewhere`)).status).toBe(400)

        // Interfaces: the person who installed the module may open the Interface that the apply created.
        const opened = yield* until(surfaces(server, workspace.id), (items) => items.length === 1)
        expect(opened.map(({ key }) => key)).toEqual(["ui"])

        // Another Capsule in the Workspace can now consume the Interface.
        const reading = yield* planReader
        expect(reading.error).toBeUndefined()
        expect((yield* apply(server, reading.id)).status).toBe("succeeded")

        // This person can return to the application, from these pages only, with a single-use ticket.
        const target = { runId: applied.id, product: "acme.app", returnUri: "acme-app://connected" }
        const elsewhere = yield* browse("/install/return", {
          body: target,
          headers: { origin: "https://evil.example.test" }
        })
        expect(elsewhere.status).toBe(403)
        expect((yield* browse("/install/return", { body: { ...target, extra: 1 } })).status).toBe(400)
        expect((yield* browse("/install/return", { body: { ...target, returnUri: "javascript://x" } })).status).toBe(
          400
        )
        expect((yield* browse("/install/return", { body: { ...target, runId: run.id } })).status).toBe(409)
        const back = yield* browse("/install/return", { body: target })
        expect([back.status, back.headers.get("cache-control")]).toEqual([200, "no-store"])
        const location = new URL((yield* returned(back.text)).location)
        const { setup_ticket: ticket = "", ...fields } = Object.fromEntries(location.searchParams)
        expect(location.href).toStartWith("acme-app://connected?host_url=")
        expect(fields).toEqual({
          host_url: appOrigin,
          product: "acme.app",
          run_id: applied.id,
          capsule_id: capsuleId
        })
        const redeem = browse("/install/setup-tickets/redeem", {
          body: { setup_ticket: ticket },
          headers: { cookie: "" }
        })
        const redeemed = yield* redeem
        expect([redeemed.status, JSON.parse(redeemed.text)]).toEqual([
          200,
          {
            product: "acme.app",
            workspace_id: workspace.id,
            capsule_id: capsuleId,
            run_id: applied.id,
            subject: server.subject
          }
        ])
        expect((yield* redeem).status).toBe(401)

        // A configuration plan changes only a user input. The secret stays unchanged.
        const { capsule } = yield* client.capsules.read({ params: { capsuleId } })
        const { planRunId } = yield* client.capsules.configurationPlan({
          params: { capsuleId },
          headers: { "idempotency-key": "title" },
          payload: {
            variablePatch: { set: { title: "Another" } },
            expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
          }
        })
        const changed = yield* apply(server, (yield* runOver(server, planRunId)).id)
        expect(changed.status).toBe("succeeded")
        const after = yield* client.capsules.outputs({ params: { capsuleId } })
        const second = yield* noteContent(after.outputs.find(({ name }) => name === "content")?.value)
        expect([second.title, second.key]).toEqual(["Another", content.key])

        // Destroy: the provider's object, the Interface and the OpenID client no longer exist.
        const { run: destroy } = yield* client.capsules.destroyPlan({
          params: { capsuleId },
          headers: { "idempotency-key": "destroy" },
          payload: {}
        })
        expect((yield* apply(server, (yield* runOver(server, destroy.id)).id)).status).toBe("succeeded")
        const left = (yield* files.readDirectory(notesDir)).filter((name) => name.endsWith(".json"))
        expect(left.map((name) => name.split("-")[0])).toEqual(["reader"])
        expect(yield* surfaces(server, workspace.id)).toEqual([])
        expect((yield* authorize(`${appOrigin}/auth/callback`)).status).toBe(400)
      }).pipe(Effect.provide(Layer.mergeAll(FetchHttpClient.layer, platform)))
  )
})
