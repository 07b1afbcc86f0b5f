import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { purge } from "../../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { SourceLanes } from "../../../../actors/ledger/source/SourceLanes.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { RunId, type SourceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting } from "../../support/GreetingModule.ts"
import { namedSnapshot } from "../../../support/NamedIds.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const body = Stream.make(new TextEncoder().encode("{}"))

/** Creates a Source with its own branch, which the Source follows automatically unless a test changes that setting. */
const sourceOf = Effect.fnUntraced(function* (branch: string, autoSync = true) {
  const { commit, context, url, workspaceId } = yield* TestPlane
  const first = yield* commit(branch, greeting("one"))
  const request = { workspaceId, name: branch, url, defaultRef: branch, autoSync }
  const { hookSecret, source } = yield* (yield* Sources).create(context, request)
  return { first, hookSecret, id: source.id }
})

/** Delivers a webhook and waits for the syncs that the webhook starts. */
const delivered = Effect.fnUntraced(function* (id: SourceId, secret: string) {
  const { runIds } = yield* (yield* Sources).hook(id, { proofs: { secrets: [secret] }, body })
  return yield* Effect.forEach(runIds, (runId) => settled(RunId.make(runId)))
})

const synced = Effect.fnUntraced(function* (id: SourceId) {
  const { context } = yield* TestPlane
  return yield* settled((yield* (yield* Sources).sync(context, id, {})).id)
})

const snapshotsOf = (id: SourceId) =>
  Effect.map(
    Effect.flatMap(Sources, (sources) => sources.snapshots(id, { limit: 100 })),
    ({ items }) => items
  )

const runsOf = Effect.fnUntraced(function* (sourceId: SourceId, includeLooks = false) {
  const { workspaceId } = yield* TestPlane
  return (yield* (yield* Runs).list(workspaceId, { sourceId, includeLooks }, { limit: 100 })).items
})

const lanesOf = (id: SourceId) =>
  Effect.map(
    Effect.flatMap(Sources, (sources) => sources.read(id)),
    ({ lanes = [] }) => lanes
  )

/** Makes every lane of the Source due and runs the schedule. */
const scheduled = Effect.fnUntraced(function* (sourceId: SourceId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE source_lanes SET next_look_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${sourceId}`
  const before = new Set((yield* runsOf(sourceId, true)).map(({ id }) => id))
  yield* (yield* SourceSchedule).syncDue
  const started = (yield* runsOf(sourceId, true)).filter(({ id }) => !before.has(id))
  return yield* Effect.forEach(started, ({ id }) => settled(id))
})

describe("Automatic syncs", () => {
  tests.live("without autoSync neither a webhook nor the schedule starts a sync, and a ping starts nothing", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sources = yield* Sources
      const sourceCommands = yield* SourceCommands
      const { hookSecret, id } = yield* sourceOf("silent", false)
      const delivery = { proofs: { secrets: [hookSecret] }, body, deliveryId: "silent-1" }
      expect((yield* sources.hook(id, delivery)).runIds).toEqual([])
      expect(yield* scheduled(id)).toEqual([])
      expect((yield* lanesOf(id)).map(({ nextLookAt }) => nextLookAt)).toEqual([undefined])

      yield* sourceCommands.Update(id, { context, request: { autoSync: true } })
      expect((yield* sources.hook(id, { ...delivery, isPing: true })).runIds).toEqual([])
      expect((yield* Effect.flip(sources.hook(id, { body, proofs: { secrets: ["wrong"] }, isPing: true }))).code).toBe(
        "unauthenticated"
      )
      // A delivery that had no effect may be redelivered.
      const { runIds } = yield* sources.hook(id, delivery)
      expect(runIds).toHaveLength(1)
      yield* Effect.forEach(runIds, (runId) => settled(RunId.make(runId)))
      expect((yield* lanesOf(id))[0]?.nextLookAt).toBeDefined()
      // A sync that was deferred because the queue was full is dropped once the Source's automatic sync is turned off.
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO deferred_syncs (source_id, ref, path, trigger_kind, since)
        VALUES (${id}, 'silent', '.', 'webhook', '2026-01-01T00:00:00.000Z')`
      yield* sourceCommands.Update(id, { context, request: { autoSync: false } })
      expect(yield* scheduled(id)).toEqual([])
      expect(yield* sql`SELECT 1 AS one FROM deferred_syncs WHERE source_id = ${id}`).toEqual([])
      // A sync that was already in the queue is dropped too.
      yield* sourceCommands.Update(id, { context, request: { autoSync: true } })
      yield* createTrigger(
        sql,
        `CREATE TRIGGER stops AFTER INSERT ON runs WHEN NEW.source_id = '${id}'
        BEGIN UPDATE sources SET auto_sync = 0 WHERE id = NEW.source_id; END`
      )
      const late = yield* delivered(id, hookSecret)
      yield* dropTrigger(sql, "stops")
      expect(late.map(({ status }) => status)).toEqual(["cancelled"])
    })
  )

  tests.live(
    "automatic syncs that find nothing new are not listed, whereas syncs that a person requested always are",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const runs = yield* Runs
        const { hookSecret, id } = yield* sourceOf("quiet")
        const [first] = yield* delivered(id, hookSecret)
        expect([first?.status, (yield* runsOf(id)).length, (yield* snapshotsOf(id)).length]).toEqual([
          "succeeded",
          1,
          1
        ])
        const again = [...(yield* delivered(id, hookSecret)), ...(yield* scheduled(id))]
        expect(again.map((run) => [run.trigger, run.status, run.sourceSnapshotId])).toEqual([
          ["webhook", "succeeded", first?.sourceSnapshotId],
          ["schedule", "succeeded", first?.sourceSnapshotId]
        ])
        expect((yield* snapshotsOf(id)).length).toBe(1)
        expect((yield* runsOf(id)).map((run) => run.id)).toEqual(first === undefined ? [] : [first.id])
        expect((yield* runsOf(id, true)).length).toBe(3)
        // The history lists each sync that found something new, and no other syncs.
        const history = yield* (yield* Audit).list(
          workspaceId,
          context.actor.subject ?? "",
          { action: "source.sync" },
          { limit: 50 }
        )
        expect(history.items.filter(({ target }) => target.id === id).map(({ runId }) => runId)).toEqual(
          first === undefined ? [] : [first.id]
        )

        const explicit = yield* synced(id)
        expect(explicit.sourceSnapshotId).not.toBe(first?.sourceSnapshotId)
        const [own, other] = yield* snapshotsOf(id)
        expect([own?.createdByRunId, own?.archiveDigest]).toEqual([explicit.id, other?.archiveDigest])

        yield* commit("quiet", greeting("two"))
        const [found] = yield* scheduled(id)
        expect(found?.sourceSnapshotId).not.toBe(own?.id)
        expect((yield* runsOf(id)).map((run) => run.id)).toEqual(
          [found?.id, explicit.id, first?.id].flatMap((known) => known ?? [])
        )

        // Callers may have received the Run's id, so the Run stays readable for a day. After that day, syncs that found
        // nothing new are removed.
        const sql = yield* SqlClient.SqlClient
        const ended = (hours: number) => {
          const at = new Date(Date.now() - hours * 3_600_000).toISOString()
          return Effect.andThen(sql`UPDATE runs SET finished_at = ${at} WHERE source_id = ${id}`, purge)
        }
        yield* ended(24)
        expect((yield* runs.read(again[0]?.id ?? RunId.make(`run_${"a".repeat(16)}`))).status).toBe("succeeded")
        yield* ended(26)
        expect((yield* runsOf(id, true)).length).toBe(3)
        const left = again.map((run) => run.id)
        expect(
          yield* sql`SELECT 1 AS one FROM run_events WHERE ${sql.in("run_id", left)}
        UNION ALL SELECT 1 FROM run_log_chunks WHERE ${sql.in("run_id", left)}`
        ).toEqual([])
      })
  )

  tests.live("a failing lane is reported once, until it recovers", () =>
    Effect.gen(function* () {
      const { commit, moveBranch, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      const { first, hookSecret, id } = yield* sourceOf("fails")
      yield* delivered(id, hookSecret)
      const [healthy] = yield* lanesOf(id)
      expect(healthy).toMatchObject({ ref: "fails", path: ".", commit: first })
      expect(healthy?.lastChangeAt).toBe(healthy?.lastLookAt ?? "")
      yield* moveBranch("fails", undefined)
      const failing = [...(yield* scheduled(id)), ...(yield* scheduled(id))]
      expect(failing.map(({ error }) => error?.code)).toEqual(["source_ref_not_found", "source_ref_not_found"])
      const listed = (yield* runsOf(id)).map((run) => run.id)
      expect(failing.map((run) => listed.includes(run.id))).toEqual([true, false])
      const [broken] = yield* lanesOf(id)
      expect(broken).toMatchObject({ commit: first, error: { code: "source_ref_not_found" } })
      expect(broken?.lastChangeAt).toBe(healthy?.lastChangeAt ?? "")
      expect((yield* sources.read(id)).status).toBe("error")
      const mine = Effect.map(sources.failingLanes(workspaceId), (lanes) => lanes.filter((l) => l.sourceId === id))
      expect((yield* mine).map(({ ref, sourceName }) => [sourceName, ref])).toEqual([["fails", "fails"]])
      // A sync whose expected commit does not match fails, but the lane itself has no error.
      yield* moveBranch("fails", first)
      const { context } = yield* TestPlane
      yield* synced(id)
      const unmet = yield* sources.sync(context, id, { expectedCommit: "0".repeat(40) })
      expect((yield* settled(unmet.id)).error?.code).toBe("source_ref_moved")
      const [healed] = yield* lanesOf(id)
      expect([healed?.error, yield* mine, (yield* sources.read(id)).status]).toEqual([undefined, [], "active"])
      const next = yield* commit("fails", greeting("two"))
      yield* scheduled(id)
      const [moved] = yield* lanesOf(id)
      expect(moved?.commit).toBe(next)
      expect((moved?.lastChangeAt ?? "") > (healthy?.lastChangeAt ?? "")).toBe(true)
    })
  )

  tests.live("a newer parser validates a snapshot's manifest again", () =>
    Effect.gen(function* () {
      const { commit } = yield* TestPlane
      const { hookSecret, id } = yield* sourceOf("manifest")
      yield* commit("manifest", { ...greeting("one"), ".well-known/svc.json": "{" })
      yield* delivered(id, hookSecret)
      const sql = yield* SqlClient.SqlClient
      const [before] = yield* snapshotsOf(id)
      const reason = before?.repositoryManifest.reason ?? ""
      expect([before?.repositoryManifest.status, reason === ""]).toEqual(["invalid", false])
      yield* sql`UPDATE source_snapshots SET repository_manifest = '{"status":"valid"}' WHERE source_id = ${id}`
      const [look] = yield* delivered(id, hookSecret)
      const [after, ...more] = yield* snapshotsOf(id)
      expect([after?.id, after?.repositoryManifest.reason, more.length]).toEqual([before?.id ?? "", reason, 0])
      // Validating a manifest again counts as finding something new.
      expect((yield* runsOf(id)).map((run) => run.id)).toContain(look?.id ?? RunId.make(`run_${"a".repeat(16)}`))
    })
  )

  tests.live("if two syncs run concurrently, the lane follows the sync that read the repository later", () =>
    Effect.gen(function* () {
      const { id } = yield* sourceOf("race")
      const lanes = yield* SourceLanes
      const lane = { ref: "race", path: "." }
      const seen = (commit: string, lookedAt: string) =>
        lanes.seen(id, lane, { snapshotId: namedSnapshot(commit), commit, lookedAt })
      expect(yield* seen("later", "2026-01-01T00:00:02.000Z")).toBe(true)
      expect(yield* seen("earlier", "2026-01-01T00:00:01.000Z")).toBe(false)
      expect(yield* lanes.failed(id, lane, { code: "c", message: "m" }, "2026-01-01T00:00:01.000Z")).toBe(false)
      expect(yield* lanes.find(id, lane)).toMatchObject({ resolved_commit: "later", error_code: null })
    })
  )
})

describe.skipIf(Bun.which("terraform") === null)("Adopted lanes", () => {
  tests.live(
    "a requested sync covers the default lane and every adopted lane, and reports a failing lane on its Capsule",
    () =>
      Effect.gen(function* () {
        const { commit, context, moveBranch } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const sources = yield* Sources
        const sourceCommands = yield* SourceCommands
        const { capsule } = yield* active("adopted", greeting("one"))
        const { sourceId } = capsule
        const { createdAt, updatedAt } = yield* sources.read(sourceId)
        expect(updatedAt >= createdAt).toBe(true)
        const applied = capsule.adoptedSourceRevision?.resolvedCommit ?? ""
        yield* commit("elsewhere", greeting("default"))
        yield* sourceCommands.Update(sourceId, { context, request: { defaultRef: "elsewhere" } })
        const newer = yield* commit("adopted", greeting("two"))
        const run = yield* synced(sourceId)
        expect([run.status, (yield* capsules.read(capsule.id)).status]).toEqual(["succeeded", "stale"])
        const { items } = yield* sources.snapshots(sourceId, { limit: 10 })
        const made = items.filter(({ createdByRunId }) => createdByRunId === run.id)
        expect(new Set(made.map(({ ref }) => ref))).toEqual(new Set(["elsewhere", "adopted"]))
        // The Run refers to the default lane's snapshot.
        expect(items.find(({ id }) => id === run.sourceSnapshotId)?.ref).toBe("elsewhere")
        expect((yield* lanesOf(sourceId)).map(({ commit: at, ref }) => [ref, at === newer])).toEqual([
          ["elsewhere", false],
          ["adopted", true]
        ])

        // A force-push back to an earlier commit reuses its snapshot, and svc reports no newer commit.
        yield* moveBranch("adopted", applied)
        const back = yield* synced(sourceId)
        expect(back.status).toBe("succeeded")
        expect((yield* capsules.read(capsule.id)).status).toBe("active")
        const lanes = yield* lanesOf(sourceId)
        expect(lanes[1]).toMatchObject({
          commit: applied,
          sourceSnapshotId: capsule.adoptedSourceRevision?.sourceSnapshotId
        })
        expect((yield* replanned(capsule.id)).resolvedCommit).toBe(applied)

        // The default lane was fetched but the adopted lane no longer exists, so the error is recorded on the lane and not
        // on the Run.
        yield* moveBranch("adopted", undefined)
        expect((yield* synced(sourceId)).status).toBe("succeeded")
        expect((yield* capsules.read(capsule.id)).laneError).toMatchObject({ code: "source_ref_not_found" })
        expect((yield* sources.read(sourceId)).status).toBe("error")
        yield* moveBranch("adopted", applied)
        yield* synced(sourceId)
        expect((yield* capsules.read(capsule.id)).laneError).toBeUndefined()
        expect((yield* sources.read(sourceId)).status).toBe("active")

        // svc stops syncing a lane after its last Capsule is released.
        yield* moveBranch("adopted", undefined)
        yield* synced(sourceId)
        expect((yield* sources.read(sourceId)).status).toBe("error")
        yield* capsuleCommands.Release(capsule.id, {
          context,
          request: { confirm: capsule.name, reason: "moved_elsewhere" }
        })
        expect((yield* sources.read(sourceId)).status).toBe("active")
      }),
    60_000
  )

  tests.live(
    "a Source with a defect does not delay the scheduled syncs of the others",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const broken = yield* sourceOf("broken-schedule")
        const sound = yield* sourceOf("sound-schedule")
        for (const { id } of [broken, sound]) yield* synced(id)
        yield* sql`UPDATE source_lanes SET next_look_at = '2020-01-01T00:00:00.000Z'
          WHERE source_id IN ${sql.in([broken.id, sound.id])}`
        const before = yield* runsOf(sound.id, true)
        const commands = yield* SourceCommands
        const poisoned: typeof commands = {
          ...commands,
          Sync: (id, request) => (id === sound.id ? commands.Sync(id, request) : Effect.die(new Error("broken")))
        }
        yield* Effect.flatMap(SourceSchedule, ({ syncDue }) => syncDue).pipe(
          Effect.provide(Layer.fresh(SourceSchedule.layer)),
          Effect.provideService(SourceCommands, poisoned)
        )
        expect(yield* runsOf(sound.id, true)).toHaveLength(before.length + 1)
      }),
    60_000
  )
})
