import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CapsuleId, RunId } from "../../../../schema/records/Ids.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import {
  active,
  applied,
  applying,
  bound,
  demoConnection,
  demoModule,
  eventOf,
  freshKey,
  install,
  note,
  planned,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { demo, newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const forbidden = "example.test/acme/forbidden"
const tests = suite(testPlane({ run: { deniedProviders: [forbidden] } }))
afterAll(tests.dispose)

const tokenA = "demo-token-canary-alpha-51f0"
const tokenB = "demo-token-canary-beta-83c2"
const ownerOf = (token: string) => createHash("sha256").update(token).digest("hex").slice(0, 8)

interface Note {
  readonly file: string
  readonly name: string
  readonly owner: string
  readonly content: string
}

const notesIn = (folder: string): ReadonlyArray<Note> =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => ({ ...JSON.parse(readFileSync(join(folder, name), "utf8")), file: join(folder, name) }))

const ownersOf = (folder: string, ...names: ReadonlyArray<string>) =>
  names.map((name) => notesIn(folder).find((entry) => entry.name === name)?.owner)

const everythingOf = Effect.fnUntraced(function* (id: RunId) {
  const streams = yield* RunStreams
  const events = yield* streams.events(id, 0, 1000)
  const logs = yield* streams.logs(id, 0, 10_000)
  return JSON.stringify([events.items, logs.items, yield* (yield* Runs).read(id)])
})

const capsuleOf = (id: CapsuleId) => Effect.flatMap(Capsules, (capsules) => capsules.read(id))

describe.skipIf(Bun.which("terraform") === null)("Provider Connections", () => {
  tests.live(
    "credentials reach only the provider configuration that they are bound to, even in a child module, and never leak",
    () =>
      Effect.gen(function* () {
        const { context, dataDir, notesDir } = yield* TestPlane
        const a = yield* demoConnection(tokenA)
        const b = yield* demoConnection(tokenB)
        expect(JSON.stringify([a, b])).not.toContain("canary")
        const child = demoModule(note("inner", "provider = demo.inner"), "configuration_aliases = [demo.inner]")
        const files = {
          "main.tf": demoModule(`
            provider "demo" { echo_token = true }
            provider "demo" {
              alias      = "b"
              echo_token = true
            }
            ${note("outer")}
            module "child" {
              source    = "./child"
              providers = { demo.inner = demo.b }
            }`),
          "child/main.tf": child
        }
        const bindings = { options: { providerBindings: [bound(a.id), bound(b.id, "b")] } }
        const { capsule, plan, apply } = yield* active("aliases", files, bindings)
        expect(ownersOf(notesDir, "outer", "inner")).toEqual([ownerOf(tokenA), ownerOf(tokenB)])
        expect(
          plan.providerResolutions?.map(({ status, childAlias, connectionId }) => [status, childAlias, connectionId])
        ).toEqual([
          ["resolved_provider_connection", undefined, a.id],
          ["resolved_provider_connection", "b", b.id]
        ])
        expect(plan.providerResolutions?.[0]?.envNames).toEqual(["DEMO_DIR", "DEMO_TOKEN"])
        expect(plan.providerLockDigest).toMatch(/^sha256:[0-9a-f]{64}$/)
        const { lastUsedAt } =
          (yield* (yield* Connections).list(a.workspaceId ?? capsule.workspaceId, { limit: 10 })).items[0] ?? {}
        expect(lastUsedAt).toBeDefined()

        // A note changes outside svc. The drift check reports the change on the Capsule without changing anything.
        const [outer] = notesIn(notesDir).filter((entry) => entry.name === "outer")
        const { file, ...stored } = outer ?? { file: "" }
        writeFileSync(file, JSON.stringify({ ...stored, content: "edited by hand" }))
        const capsules = yield* CapsuleCommands
        const drift = yield* settled((yield* capsules.DriftCheck(capsule.id, { context })).id)
        expect(drift.status).toBe("succeeded")
        expect(drift.drifted).toBe(true)
        expect(drift.resourceDrift?.map((change) => change.address)).toEqual(["demo_note.outer"])
        expect((yield* capsuleOf(capsule.id)).driftStatus).toBe("drifted")
        expect((yield* capsuleOf(capsule.id)).currentStateGeneration).toBe(1)

        // The plugin printed its tokens in every Run, but the stored data contains neither token in any form.
        for (const run of [plan, apply, drift]) {
          const told = yield* everythingOf(run.id)
          for (const token of [tokenA, tokenB]) expect(told).not.toContain(token)
        }
        expect(yield* everythingOf(apply.id)).toContain("Echo")
        expect(canarySweep(dataDir, [tokenA, tokenB])).toEqual([])
        // Checks that the search works, so it would have found a token.
        expect(canarySweep(notesDir, ["edited by hand"])).toHaveLength(1)

        // svc rejects a lock file that differs from the reviewed lock file before the tool starts.
        const again = yield* replanned(capsule.id)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE run_plans SET lock_text = replace(lock_text, 'h1:', 'h1:A') WHERE run_id = ${again.id}`
        const refused = yield* applied(again)
        expect(refused.status).toBe("failed")
        expect((yield* capsuleOf(capsule.id)).status).toBe("active")
        expect((yield* capsuleOf(capsule.id)).runtimeSafety).toBe("safe")
      }),
    120_000
  )

  tests.live(
    "a Run records as evidence which credentials are missing, revoked, expired or disallowed",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const connections = yield* Connections
        const connectionCommands = yield* ConnectionCommands
        const unbound = yield* install("unbound", { "main.tf": demoModule(note("unbound")) })
        expect(unbound.phase).toBe("failed")
        expect(unbound.diagnostics.map((finding) => finding.code)).toEqual(["blocked_missing_connection"])
        if (unbound.planRunId === undefined || unbound.capsuleId === undefined) return yield* Effect.die("no Run")
        const blocked = yield* (yield* Runs).read(unbound.planRunId)
        expect(blocked.status).toBe("failed")
        expect(blocked.providerResolutions?.map(({ status, blockedReason }) => [status, blockedReason])).toEqual([
          ["blocked_missing_connection", "No Connection is bound to demo."]
        ])

        // Once a configuration plan binds the Connection, the Capsule can continue.
        const connection = yield* demoConnection("demo-token-canary-late-77aa")
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const configured = yield* capsuleCommands.ConfigurationPlan(unbound.capsuleId, {
          context,
          request: {
            providerBindings: [bound(connection.id)],
            expected: {
              authorityGuard: (yield* capsules.read(unbound.capsuleId)).installConfigReAdoption.authorityGuard
            }
          },
          idempotency: freshKey()
        })
        const plan = yield* settled(configured.value.planRunId)
        expect(plan.status).toBe("waiting_approval")

        // The Connection is revoked between review and apply, so the plan is void and nothing starts.
        yield* connectionCommands.Revoke(connection.id, { context })
        expect((yield* Effect.flip(connectionCommands.Test(connection.id, { context }))).code).toBe(
          "failed_precondition"
        )
        expect((yield* (yield* Runs).read(plan.id)).status).toBe("superseded")
        // Simulates a revocation that failed to void the plan.
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE runs SET status = 'waiting_approval' WHERE id = ${plan.id}`
        const refused = yield* Effect.flip(applied(plan))
        expect("code" in refused && refused.code).toBe("guard_conflict")
        expect((yield* capsuleOf(unbound.capsuleId)).status).toBe("pending")
        const rows = yield* sql`SELECT sealed_values FROM connections WHERE id = ${connection.id}`
        expect(rows).toEqual([{ sealed_values: null }])

        // The API rejects an expiry in the past, so the test writes the expiry directly to the database.
        const expired = yield* demoConnection("demo-token-canary-old-90bb")
        yield* sql`UPDATE connections SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${expired.id}`
        expect((yield* connections.read(expired.id)).status).toBe("expired")
        const late = yield* install(
          "expired",
          { "main.tf": demoModule(note("expired")) },
          {
            options: { providerBindings: [bound(expired.id)] }
          }
        )
        expect(late.diagnostics.map((finding) => finding.code)).toEqual(["blocked_missing_connection"])

        // A provider that the operator does not allow, or a Connection for another provider, is a policy violation.
        const denied = yield* connections.create(context, {
          workspaceId,
          provider: forbidden,
          displayName: "forbidden",
          values: { OTHER_TOKEN: "demo-token-canary-deny-12cd" }
        })
        const policy = yield* install(
          "policy",
          { "main.tf": demoModule("").replaceAll(demo, forbidden) },
          { options: { providerBindings: [{ ...bound(denied.id), provider: forbidden }] } }
        )
        expect(policy.diagnostics.map((finding) => finding.code)).toEqual(["blocked_policy"])
        const other = yield* install(
          "other",
          { "main.tf": demoModule(note("other")) },
          {
            options: { providerBindings: [bound(denied.id)] }
          }
        )
        expect(other.diagnostics.map((finding) => finding.code)).toEqual(["blocked_policy"])

        // Another Workspace's Connection is indistinguishable from a missing Connection.
        const stranger = yield* newOwner("stranger")
        const foreign = yield* connections.create(stranger.context, {
          workspaceId: stranger.workspaceId,
          provider: demo,
          displayName: "foreign",
          values: { DEMO_TOKEN: "demo-token-canary-else-44ef" }
        })
        const { phase } = yield* install(
          "foreign",
          { "main.tf": demoModule(note("foreign")) },
          {
            options: { providerBindings: [bound(foreign.id)] }
          }
        ).pipe(Effect.catch((error) => Effect.succeed({ phase: error.code })))
        expect(phase).toBe("invalid_request")
      }),
    120_000
  )

  tests.live(
    "a failed resource leaves a partial state, and a successful apply makes the Capsule safe again",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const connection = yield* demoConnection(tokenA)
        const main = (extra: string) => ({ "main.tf": demoModule(note("good") + note("bad", extra)) })
        const { capsuleId, plan } = yield* planned("failing", main('fail = "after"'), {
          options: { providerBindings: [bound(connection.id)] }
        })
        const failed = yield* applied(plan)
        expect(failed.status).toBe("failed")
        expect(failed.diagnostics?.map((entry) => entry.severity)).toContain("error")
        const broken = yield* capsuleOf(capsuleId)
        expect([broken.status, broken.runtimeSafety, broken.currentStateGeneration]).toEqual(["error", "unknown", 1])
        expect(broken.adoptedSourceRevision).toBeUndefined()
        const capsules = yield* Capsules
        const [version] = (yield* capsules.stateVersions(capsuleId, { limit: 10 })).items
        expect(version).toMatchObject({ partial: true, resourceCount: 2, createdByRunId: failed.id })
        expect(failed.stateVersionId).toBe(version?.id)

        yield* commit("failing", main(""))
        yield* settled((yield* (yield* Sources).sync(context, broken.sourceId, {})).id)
        const repaired = yield* applied(yield* replanned(capsuleId))
        expect(repaired.status).toBe("succeeded")
        const good = yield* capsuleOf(capsuleId)
        expect([good.status, good.runtimeSafety, good.currentStateGeneration]).toEqual(["active", "safe", 2])
      }),
    120_000
  )

  tests.live(
    "cancelling a Run stops a slow resource and keeps the created resources",
    () =>
      Effect.gen(function* () {
        const { context, dataDir } = yield* TestPlane
        const connection = yield* demoConnection(tokenB)
        const { capsuleId, plan } = yield* planned(
          "slow",
          { "main.tf": demoModule(note("slow", "delay_ms = 600000")) },
          {
            options: { providerBindings: [bound(connection.id)] }
          }
        )
        const runs = yield* RunCommands
        const apply = yield* applying(plan)
        yield* eventOf(apply.id, "resource.started")
        // The list shows the Run waiting in the queue, and a queued Run can be cancelled.
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const waiting = (yield* capsuleCommands.Plan(capsuleId, { context })).value
        expect(waiting.queue).toMatchObject({ position: 2, reason: "capsule_busy", heldByRunId: apply.id })
        expect((yield* runs.Cancel(waiting.id, { context, reason: "not now" })).status).toBe("cancelled")
        expect((yield* Effect.flip(runs.Cancel(waiting.id, { context }))).code).toBe("failed_precondition")

        yield* runs.Cancel(apply.id, { context, reason: "stop it" })
        const cancelled = yield* settled(apply.id)
        expect(cancelled.status).toBe("cancelled")
        const capsule = yield* capsuleOf(capsuleId)
        expect([capsule.status, capsule.runtimeSafety, capsule.currentStateGeneration]).toEqual(["error", "unknown", 1])
        expect((yield* capsules.stateVersions(capsuleId, { limit: 10 })).items[0]).toMatchObject({
          partial: true,
          resourceCount: 1
        })
        const events = (yield* (yield* RunStreams).events(apply.id, 0, 1000)).items
        expect(events.find((event) => event.kind === "run.cancelling")?.data).toEqual({
          reason: "stop it",
          subject: context.actor.subject ?? ""
        })
        expect(canarySweep(dataDir, [tokenA, tokenB])).toEqual([])
      }),
    120_000
  )
})
