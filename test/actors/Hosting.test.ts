import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../actors/commands/capsule/Capsules.ts"
import { GeneratedSecrets } from "../../actors/inputs/delivery/GeneratedSecrets.ts"
import { capsuleClientId } from "../../actors/access/issuer/CapsuleClients.ts"
import { Interfaces } from "../../actors/ledger/interface/Interfaces.ts"
import { Runs, RunStreams } from "../../actors/ledger/run/Runs.ts"
import { suite } from "../support/Effect.ts"
import { settled } from "../support/Journey.ts"
import {
  applied,
  Bench,
  deployed,
  guardedOrigin,
  hostedPlane,
  install,
  issuer,
  outputsOf,
  siteOrigin,
  webOrigin
} from "./support/HostedPlane.ts"
import { eventually } from "../support/Eventually.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../schema/commands/RunCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(hostedPlane)
afterAll(tests.dispose)

const surfaces = Effect.gen(function* () {
  const { subject, workspaceId } = yield* Bench
  return yield* (yield* Interfaces).uiSurfaces(workspaceId, subject, {}, { limit: 100 })
})

const bindings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ consumer_capsule_id: string | null; status: string; permissions: string; subject: string }>`
    SELECT consumer_capsule_id, status, permissions, subject FROM interface_bindings ORDER BY created_at, id`
})

describe("Host requirements", () => {
  tests.live(
    "generated secrets, endpoints and Interfaces are delivered and materialised, survive later applies, and are retired",
    () =>
      Effect.gen(function* () {
        const { context, subject, workspaceId } = yield* Bench
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const sql = yield* SqlClient.SqlClient
        const web = yield* deployed("web", "web")
        const first = yield* outputsOf(web.capsuleId)
        expect(first["app_url"]).toBe(webOrigin)
        expect(first["key_digest"]).toMatch(/^[0-9a-f]{64}$/)

        // The entire sidecar is encrypted at rest, so neither the secret nor any other content is readable.
        const sidecars = yield* sql<{ sealed_values: string }>`SELECT sealed_values FROM run_deliveries`
        expect(sidecars).toHaveLength(1)
        expect(JSON.stringify(sidecars)).not.toContain("web.example.test")
        const secrets = yield* sql<{
          sealed_value: string
          bytes: number
        }>`SELECT sealed_value, bytes FROM generated_secrets`
        expect(secrets.map(({ bytes }) => bytes)).toEqual([48])

        const opened = yield* eventually(surfaces, ({ items }) => items.length === 1)
        expect(opened.items[0]).toMatchObject({
          key: "ui",
          status: "resolved",
          revision: 1,
          inputs: { url: webOrigin, kind: "page" },
          document: { title: "Web" }
        })
        expect(JSON.stringify(opened)).not.toContain("ui.open")
        expect(yield* bindings).toEqual([
          { consumer_capsule_id: null, status: "ready", permissions: '["ui.open"]', subject }
        ])

        // Changing the configuration keeps the secret and the Interface, and does not issue a second grant.
        const before = yield* capsules.read(web.capsuleId)
        expect((yield* capsules.backup(context, workspaceId, web.capsuleId)).sizeBytes).toBeGreaterThan(0)
        const planned = yield* capsuleCommands.ConfigurationPlan(web.capsuleId, {
          context,
          request: {
            variablePatch: { set: { label: "changed" } },
            expected: { authorityGuard: before.installConfigReAdoption.authorityGuard }
          },
          idempotency: { key: "label", requestDigest: "label" }
        })
        yield* settled(planned.value.planRunId)
        expect((yield* applied(planned.value.planRunId)).status).toBe("succeeded")
        const second = yield* outputsOf(web.capsuleId)
        expect(second["label"]).toBe("changed")
        expect(second["key_digest"]).toBe(first["key_digest"] ?? "")
        expect(yield* sql`SELECT id FROM generated_secrets`).toHaveLength(1)
        yield* eventually(
          sql<{ status: string }>`SELECT status FROM interface_intents WHERE status = 'pending'`,
          (open) => open.length === 0
        )
        expect((yield* surfaces).items[0]?.revision).toBe(1)
        expect(yield* bindings).toHaveLength(1)

        // Destroying the Capsule removes the secret, the Interface and the grant.
        const destroy = yield* settled((yield* capsuleCommands.DestroyPlan(web.capsuleId, { context })).value.id)
        expect(destroy.error).toBeUndefined()
        expect((yield* applied(destroy.id)).status).toBe("succeeded")
        expect((yield* surfaces).items).toEqual([])
        expect((yield* bindings).map(({ status }) => status)).toEqual(["revoked"])
        expect(yield* sql`SELECT id FROM generated_secrets`).toEqual([])
      })
  )

  tests.live("a generated secret never appears in a stream, a log or a record", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* Bench
      const sql = yield* SqlClient.SqlClient
      const streams = yield* RunStreams
      const secrets = yield* GeneratedSecrets
      const web = yield* deployed("web", "web")
      const secret = yield* secrets.find(
        { id: web.capsuleId, workspace_id: workspaceId },
        { target: "variable:session_key", bytes: 48, encoding: "base64url" }
      )
      const canary = secret === undefined ? "" : Redacted.value(secret)
      expect(canary).toMatch(/^[A-Za-z0-9_-]{64}$/)
      const digest = new Bun.CryptoHasher("sha256").update(canary).digest("hex")
      expect((yield* outputsOf(web.capsuleId))["key_digest"]).toBe(digest)
      const texts: Array<unknown> = []
      for (const id of [web.planRunId, web.run.id]) {
        texts.push(yield* streams.events(id, 0, 1000), yield* streams.logs(id, 0, 1000))
      }
      for (const table of ["runs", "outputs", "state_versions", "install_configs", "audit_events"]) {
        texts.push(yield* sql`SELECT * FROM ${sql(table)}`)
      }
      const all = JSON.stringify(texts)
      expect(all).toContain(digest)
      expect(all).not.toContain(canary)
    })
  )

  tests.live("a consumed Interface is resolved after the plan, bound during review, and ready after the apply", () =>
    Effect.gen(function* () {
      const { context, subject } = yield* Bench
      const capsules = yield* CapsuleCommands
      yield* eventually(surfaces, ({ items }) => items.length === 1)
      const plan = yield* install("reader", "reader")
      expect(plan.phase).toBe("reviewable")
      const own = Effect.map(bindings, (rows) => rows.filter((row) => row.consumer_capsule_id === plan.capsuleId))
      expect(yield* own).toEqual([
        { consumer_capsule_id: plan.capsuleId ?? "", status: "pending", permissions: '["mcp.invoke"]', subject }
      ])
      const [surface] = (yield* surfaces).items
      const interfaces = yield* Interfaces
      if (surface === undefined) return yield* Effect.die("no surface")
      const use = { subject, interfaceId: surface.id, permission: "mcp.invoke", delivery: "oauth2" }
      expect((yield* Effect.flip(interfaces.authorize(use))).code).toBe("permission_denied")
      // Removing a binding before its apply leaves no usable grant behind.
      const removed = yield* install("removed reader", "reader")
      if (removed.capsuleId === undefined) return yield* Effect.die("no Capsule")
      yield* capsules.Remove(removed.capsuleId, { context })
      const left = (yield* bindings).filter((row) => row.consumer_capsule_id === removed.capsuleId)
      expect(left.map(({ status }) => status)).toEqual(["revoked"])
      if (plan.planRunId === undefined) return yield* Effect.die("no plan")
      expect((yield* applied(plan.planRunId)).status).toBe("succeeded")
      expect((yield* own).map(({ status }) => status)).toEqual(["ready"])
      expect((yield* interfaces.authorize(use)).key).toBe("ui")
      expect((yield* Effect.flip(interfaces.authorize({ ...use, permission: "ui.admin" }))).code).toBe(
        "permission_denied"
      )
    })
  )

  tests.live("a plan reports a consumed Interface that has no provider in the Workspace, or no provider at all", () =>
    Effect.gen(function* () {
      const { otherWorkspaceId } = yield* Bench
      const plan = yield* install("reader", "reader", { workspaceId: otherWorkspaceId })
      expect(plan.phase).toBe("failed")
      expect(plan.diagnostics.map(({ code }) => code)).toEqual(["interface_not_resolved"])
    })
  )

  tests.live("svc rejects a plan for a Capsule without an assigned endpoint", () =>
    Effect.gen(function* () {
      const plan = yield* install("unassigned", "web")
      expect(plan.phase).toBe("failed")
      expect(plan.diagnostics.map(({ code }) => code)).toEqual(["endpoint_not_available"])
    })
  )

  tests.live("a sign-in client is pinned at plan time, registered only by the apply, and retired by the destroy", () =>
    Effect.gen(function* () {
      const { context } = yield* Bench
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleCommands
      const plan = yield* install("site", "sign-in")
      expect(plan.diagnostics).toEqual([])
      const clients = sql<{
        redirect_uri: string
        status: string
      }>`SELECT redirect_uri, status FROM oidc_capsule_clients`
      expect(yield* clients).toEqual([])
      if (plan.planRunId === undefined || plan.capsuleId === undefined) return yield* Effect.die("no plan")
      expect((yield* settled(plan.planRunId)).signIn).toEqual({
        redirectUri: `${siteOrigin}/auth/callback`,
        postLogoutRedirectUris: [siteOrigin]
      })
      expect((yield* applied(plan.planRunId)).status).toBe("succeeded")
      expect(yield* clients).toEqual([{ redirect_uri: `${siteOrigin}/auth/callback`, status: "active" }])
      expect((yield* outputsOf(plan.capsuleId))["env"]).toEqual({
        OIDC_ACCOUNTS_URL: issuer,
        OIDC_ISSUER_URL: issuer,
        OIDC_CLIENT_ID: capsuleClientId(plan.capsuleId),
        OIDC_REDIRECT_URI: `${siteOrigin}/auth/callback`
      })
      const destroy = yield* settled((yield* capsules.DestroyPlan(plan.capsuleId, { context })).value.id)
      expect(destroy.signIn).toBeUndefined()
      expect((yield* applied(destroy.id)).status).toBe("succeeded")
      expect((yield* clients).map(({ status }) => status)).toEqual(["retired"])
    })
  )

  tests.live(
    "an apply registers a sign-in client with the endpoint's return paths and the digest of the delivered secret",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { capsuleId, planRunId } = yield* deployed("guarded", "guarded")
        // The registration matches what the plan's reviewers saw.
        expect((yield* settled(planRunId)).signIn?.postLogoutRedirectUris).toEqual([
          guardedOrigin,
          `${guardedOrigin}/goodbye`
        ])
        const [client] = yield* sql<{ post_logout_paths: string; introspection_hash: string }>`SELECT post_logout_paths,
        introspection_hash FROM oidc_capsule_clients WHERE capsule_id = ${capsuleId} AND status = 'active'`
        expect(client?.post_logout_paths).toBe('["/goodbye"]')
        expect(client?.introspection_hash).toMatch(/^[0-9a-f]{64}$/)
        expect((yield* outputsOf(capsuleId))["secret_digest"]).toBe(client?.introspection_hash ?? "none")
      })
  )

  tests.live("svc rejects an apply before its tool starts if a delivered value has changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* Capsules
      const plan = yield* install("site", "sign-in")
      expect(plan.diagnostics).toEqual([])
      if (plan.planRunId === undefined || plan.capsuleId === undefined) return yield* Effect.die("no plan")
      yield* sql`UPDATE oidc_plan_pins SET authority_digest = 'sha256:other' WHERE plan_run_id = ${plan.planRunId}`
      const run = yield* applied(plan.planRunId)
      expect(run.status).toBe("failed")
      expect(run.error?.code).toBe("identity_refused")
      const capsule = yield* capsules.read(plan.capsuleId)
      expect(capsule.status).toBe("pending")
      expect(capsule.runtimeSafety).toBe("safe")
      expect(capsule.currentStateGeneration).toBe(0)
    })
  )

  tests.live("a withdrawn endpoint blocks plans and applies, but not drift checks or destroys", () =>
    Effect.gen(function* () {
      const { context } = yield* Bench
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const web = yield* deployed("shop", "web")
      yield* eventually(surfaces, ({ items }) => items.length === 2)
      // Two Capsules now provide the Interface, so the choice is ambiguous.
      const reader = yield* install("second reader", "reader")
      expect(reader.diagnostics.map(({ code }) => code)).toEqual(["interface_ambiguous"])
      const waiting = yield* settled((yield* capsuleCommands.Plan(web.capsuleId, { context })).value.id)
      expect(waiting.status).toBe("waiting_approval")
      // Endpoint assignments match by Capsule name, so the renamed Capsule has no endpoint.
      yield* capsuleCommands.Update(web.capsuleId, { context, name: "renamed" })
      yield* runCommands.Approve(waiting.id, { context })
      const apply = yield* settled((yield* runs.apply(context, waiting.id, undefined)).value.id)
      expect([apply.status, apply.error?.code]).toEqual(["failed", "endpoint_not_available"])
      expect((yield* capsules.read(web.capsuleId)).runtimeSafety).toBe("safe")
      const again = yield* settled((yield* capsuleCommands.Plan(web.capsuleId, { context })).value.id)
      expect([again.status, again.error?.code]).toEqual(["failed", "endpoint_not_available"])
      const drift = yield* settled((yield* capsuleCommands.DriftCheck(web.capsuleId, { context })).id)
      expect([drift.status, drift.error]).toEqual(["succeeded", undefined])
      expect((yield* capsules.read(web.capsuleId)).driftStatus).toBe("none")
      const destroy = yield* settled((yield* capsuleCommands.DestroyPlan(web.capsuleId, { context })).value.id)
      expect((yield* applied(destroy.id)).status).toBe("succeeded")
    })
  )

  tests.live("Interfaces added by a configuration plan are pending until its apply resolves them", () =>
    Effect.gen(function* () {
      const { context } = yield* Bench
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const sql = yield* SqlClient.SqlClient
      const plain = yield* deployed("plain", "plain/producer")
      const read = yield* capsules.read(plain.capsuleId)
      const spec = {
        type: "plain.note",
        version: "1",
        document: { title: "Note" },
        inputs: { text: { source: "literal", value: "hello" } },
        access: { visibility: "workspace" }
      }
      const request = {
        interfaceBlueprints: [{ key: "note", name: "Note", spec }],
        expected: { authorityGuard: read.installConfigReAdoption.authorityGuard }
      }
      const planned = yield* capsuleCommands.ConfigurationPlan(plain.capsuleId, {
        context,
        request,
        idempotency: {
          key: "note",
          requestDigest: "note"
        }
      })
      const status = Effect.map(
        sql<{ status: string }>`SELECT status FROM interfaces WHERE capsule_id = ${plain.capsuleId}`,
        (rows) => rows.map((row) => row.status)
      )
      expect(yield* status).toEqual(["pending"])
      yield* settled(planned.value.planRunId)
      expect((yield* applied(planned.value.planRunId)).status).toBe("succeeded")
      expect(yield* eventually(status, ([first]) => first !== "pending")).toEqual(["resolved"])
    })
  )

  tests.live(
    "failed materialisations are listed without values, and can be retried only while they are unchanged",
    () =>
      Effect.gen(function* () {
        const { context, otherWorkspaceId, workspaceId } = yield* Bench
        const interfaces = yield* Interfaces
        yield* deployed("broken", "broken")
        const failures = Effect.map(interfaces.failures(workspaceId, { limit: 10 }), ({ items }) => items)
        const [failure] = yield* eventually(failures, (items) => items.length === 1)
        expect(failure).toMatchObject({ key: "ui", code: "output_type_mismatch", attempt: 1 })
        expect(JSON.stringify(failure)).not.toContain("javascript")
        const id = failure?.intentId ?? ""
        const stale = interfaces.retry(context, workspaceId, id, { attempt: 2, code: "output_type_mismatch" })
        expect((yield* Effect.flip(stale)).code).toBe("guard_conflict")
        // The caller may act only in the Workspace given in the URL (Z4).
        const elsewhere = interfaces.retry(context, otherWorkspaceId, id, { attempt: 1, code: "output_type_mismatch" })
        expect((yield* Effect.flip(elsewhere)).code).toBe("not_found")
        const again = yield* interfaces.retry(context, workspaceId, id, { attempt: 1, code: "output_type_mismatch" })
        expect(again.attempt).toBe(2)
        const [second] = yield* eventually(failures, (items) => items.length === 1)
        expect(second).toMatchObject({ intentId: id, code: "output_type_mismatch", attempt: 2 })
      })
  )
})
