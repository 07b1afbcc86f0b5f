import { utimes } from "node:fs/promises"
import { afterAll, describe, expect } from "bun:test"
import { Effect, Result, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { newId } from "../../../../actors/base/Identity.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { RunId, type SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, freshKey, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const body = Stream.make(new TextEncoder().encode("{}"))
const module = (text: string) => ({ "main.tf": `resource "terraform_data" "a" { input = "${text}" }` })

const codeOf = <A, E extends { readonly code: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), ({ code }) => code)

const newSource = Effect.fnUntraced(function* (branch: string) {
  const { context, url, workspaceId } = yield* TestPlane
  return yield* (yield* Sources).create(context, {
    workspaceId,
    name: branch,
    url,
    defaultRef: branch,
    autoSync: true
  })
})

const synced = Effect.fnUntraced(function* (id: SourceId) {
  const { context } = yield* TestPlane
  const sources = yield* Sources
  yield* settled((yield* sources.sync(context, id, { intent: "manual_plan" })).id)
  const [snapshot] = (yield* sources.snapshots(id, { limit: 1 })).items
  return snapshot ?? (yield* Effect.die("no snapshot"))
})

const archiveOf = Effect.fnUntraced(function* (digest: string) {
  const { dataDir } = yield* TestPlane
  const sha256 = digest.replace("sha256:", "")
  return `${dataDir}/snapshots/${sha256.slice(0, 2)}/${sha256}.tar.zst`
})

/** Simulates an archive stored two days ago. */
const aged = (file: string) => {
  const then = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000)
  return Effect.promise(() => utimes(file, then, then))
}

describe("Source removal", () => {
  tests.live(
    "removing a Source deletes its secret, schedule, snapshots, reports and archives, and hides it from lists",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const sources = yield* Sources
        const sourceCommands = yield* SourceCommands
        const capsules = yield* Capsules
        yield* commit("removed", module("only here"))
        const { hookSecret, source } = yield* newSource("removed")
        const snapshot = yield* synced(source.id)
        const modulePath = RelativePath.make(".")
        const { compatibilityReport } = yield* sources.checkCompatibility(context, source.id, {
          sourceSnapshotId: snapshot.id,
          modulePath
        })
        const configs = Effect.map(capsules.installConfigs(workspaceId, { limit: 100 }), ({ items }) => items.length)
        expect(yield* configs).toBe(1)
        yield* sql`INSERT INTO deferred_syncs ${sql.insert({
          source_id: source.id,
          ref: "other",
          path: ".",
          trigger_kind: "webhook",
          since: source.createdAt
        })}`
        const file = yield* archiveOf(snapshot.archiveDigest)
        yield* aged(file)

        yield* sources.remove(context, source.id)
        expect((yield* sources.list(workspaceId, { limit: 100 })).items.map(({ id }) => id)).not.toContain(source.id)
        const left = yield* sources.read(source.id)
        expect(left).toMatchObject({ status: "disabled", autoSync: false })
        expect(left.removedAt).toBeDefined()
        expect((yield* sources.snapshots(source.id, { limit: 10 })).items).toEqual([])
        expect(yield* codeOf(sources.report(compatibilityReport.id))).toBe("not_found")
        expect(yield* configs).toBe(0)
        expect(yield* sql`SELECT source_id FROM deferred_syncs WHERE source_id = ${source.id}`).toEqual([])
        expect(yield* Effect.promise(() => Bun.file(file).exists())).toBe(false)
        expect(yield* sql`SELECT hook_secret FROM sources WHERE id = ${source.id}`).toEqual([{ hook_secret: "" }])
        expect(yield* codeOf(sources.hook(source.id, { proofs: { secrets: [hookSecret] }, body }))).toBe(
          "unauthenticated"
        )

        // The schedule does not sync the removed Source, and commands that would use or change the Source fail.
        yield* sql`UPDATE sources SET last_synced_at = NULL, auto_sync = 1 WHERE id = ${source.id}`
        yield* (yield* SourceSchedule).syncDue
        expect(yield* sql`SELECT id FROM runs WHERE source_id = ${source.id} AND trigger_kind = 'schedule'`).toEqual([])
        const refused = yield* Effect.all([
          codeOf(sources.sync(context, source.id, {})),
          codeOf(sourceCommands.Update(source.id, { context, request: { status: "active" } })),
          codeOf(sourceCommands.RenewHookSecret(source.id, { context, hookSecretVersion: 1 })),
          codeOf(sources.checkCompatibility(context, source.id, { sourceSnapshotId: snapshot.id, modulePath })),
          codeOf(sources.remove(context, source.id))
        ])
        expect(new Set<string>(refused)).toEqual(new Set(["not_found"]))
        const { items } = yield* (yield* Audit).list(
          workspaceId,
          context.actor.subject ?? "",
          { action: "source.remove" },
          { limit: 1 }
        )
        expect(items[0]).toMatchObject({ target: { id: source.id }, data: { name: "removed", url: source.url } })
      })
  )

  tests.live(
    "a Source cannot be removed while its sync runs, and if a removal and a sync race, exactly one of them succeeds",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const sources = yield* Sources
        const ledger = yield* RunLedger
        const { source } = yield* newSource("nowhere")
        const id = yield* newId(RunId, "run")
        yield* transaction(sql)(
          Effect.andThen(
            ledger.insert({ id, workspaceId, type: "source_sync", sourceId: source.id, trigger: "webhook", spec: {} }),
            setRun(id, { status: "running" })
          )
        )
        const refused = yield* Effect.flip(sources.remove(context, source.id))
        expect(refused.code).toBe("run_conflict")
        expect(refused.message).toContain(id)
        yield* setRun(id, { status: "cancelled" })
        // After a failed sync, for example of a mistyped ref, the Source can be removed.
        const failed = yield* settled((yield* sources.sync(context, source.id, {})).id)
        expect(failed.status).toBe("failed")
        yield* sources.remove(context, source.id)

        for (let round = 0; round < 6; round += 1) {
          const { source: one } = yield* newSource("nowhere")
          const sync = Effect.result(Effect.asVoid(sources.sync(context, one.id, {})))
          const removal = Effect.result(sources.remove(context, one.id))
          const both = yield* Effect.all(round % 2 === 0 ? [sync, removal] : [removal, sync], {
            concurrency: "unbounded"
          })
          const [first, second] = round % 2 === 0 ? both : both.toReversed()
          expect(both.filter(Result.isSuccess)).toHaveLength(1)
          if (first !== undefined && Result.isFailure(first)) expect(first.failure.code).toBe("not_found")
          if (second !== undefined && Result.isFailure(second)) expect(second.failure.code).toBe("run_conflict")
          const [started] = (yield* (yield* Runs).list(workspaceId, { sourceId: one.id }, { limit: 1 })).items
          if (started !== undefined) yield* settled(started.id)
        }
      })
  )

  tests.live("a Source cannot be removed while an install pins it", () =>
    Effect.gen(function* () {
      const { commit, context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const sources = yield* Sources
      yield* commit("pinned", module("pinned"))
      const { source } = yield* newSource("pinned")
      const snapshot = yield* synced(source.id)
      const modulePath = RelativePath.make(".")
      const checked = yield* sources.checkCompatibility(context, source.id, {
        sourceSnapshotId: snapshot.id,
        modulePath
      })
      const preflight = {
        sourceId: source.id,
        sourceSnapshotId: snapshot.id,
        compatibilityCheckRunId: checked.run.id,
        compatibilityReportId: checked.compatibilityReport.id
      }
      const request = {
        source: { name: "pinned", url: source.url, ref: "pinned" },
        capsule: { name: "pinned", environment: "test" },
        preflight
      }
      // Inserts an install that has not yet created its Capsule.
      yield* sql`INSERT INTO install_plans ${sql.insert({
        id: "ipl_open",
        workspace_id: workspaceId,
        phase: "creating_capsule",
        request: "{}",
        actor: "{}",
        source_id: source.id,
        diagnostics: "[]",
        created_at: source.createdAt,
        updated_at: source.createdAt
      })}`
      const refused = yield* Effect.flip(sources.remove(context, source.id))
      expect([refused.code, refused.message.includes("the install plan ipl_open")]).toEqual([
        "failed_precondition",
        true
      ])
      yield* sql`DELETE FROM install_plans WHERE id = 'ipl_open'`
      yield* sources.remove(context, source.id)
      const late = (yield* InstallPlans).create(context, workspaceId, request, freshKey())
      expect(yield* codeOf(late)).toBe("failed_precondition")
    })
  )
})

describe.skipIf(Bun.which("terraform") === null)("Removed Sources", () => {
  tests.live(
    "a Source cannot be removed while one of its Capsules exists, and Capsules that have ended keep the record of their origin",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const sources = yield* Sources
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const { capsule } = yield* active("kept", module("one"))
        const adopted = capsule.adoptedSourceRevision?.sourceSnapshotId
        yield* commit("kept", module("two"))
        const newer = yield* synced(capsule.sourceId)
        expect(newer.id).not.toBe(adopted)
        const refused = yield* Effect.flip(sources.remove(context, capsule.sourceId))
        expect([refused.code, refused.message.includes("the Capsule kept (test)")]).toEqual([
          "failed_precondition",
          true
        ])

        yield* capsuleCommands.Release(capsule.id, {
          context,
          request: { confirm: "kept", reason: "infrastructure_gone" }
        })
        yield* sources.remove(context, capsule.sourceId)
        expect((yield* sources.snapshots(capsule.sourceId, { limit: 10 })).items.map(({ id }) => id)).toEqual([
          adopted ?? (yield* Effect.die("nothing adopted"))
        ])
        expect((yield* sources.file(capsule.sourceId, adopted ?? newer.id, "main.tf")).text).toContain("one")
        expect((yield* capsules.read(capsule.id)).sourceId).toBe(capsule.sourceId)
        expect((yield* capsules.stateVersions(capsule.id, { limit: 10 })).items).toHaveLength(1)
      })
  )
})
