import { expect } from "bun:test"
import { cp, mkdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { it } from "../../../support/Effect.ts"
import { active, applied, applying, replanned, settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

const points = ["restore.claimed", "restore.settled"] as const
const parts = ["review", "restore"] as const

const notCopied = /^(svc\.sqlite.*|instance\.(lock|holder).*)$/

/** Copies the data folder to simulate a kill at this point, while the process keeps running. */
const copied = Effect.fnUntraced(function* (from: string, to: string) {
  yield* Effect.promise(async () => {
    await mkdir(to, { mode: 0o700 })
    await cp(from, to, { recursive: true, filter: (path) => !notCopied.test(basename(path)) })
  })
  yield* Effect.orDie((yield* DatabaseFile).backup(join(to, "svc.sqlite")))
})

it.live(
  "a restore killed in either of its two Runs is completed exactly once by the next process",
  () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${root}/repository.git`)
      const kills = killPoints()
      const dataDir = `${root}/data`
      const processAt = (folder: string) =>
        Layer.fresh(planeAt({ dataDir: folder, mirror, origins: [origin] }, { runner: pureRunner(pureModules()) }))

      const { capsuleId, plane, runs } = yield* Effect.gen(function* () {
        const context = yield* Effect.context<DatabaseFile>()
        const owner = yield* newOwner("owner")
        const plane = { ...owner, dataDir, notesDir: mirror.notesDir, url, commit, moveBranch }
        return yield* Effect.gen(function* () {
          /** Simulates a kill at each point of a Run, until the Run has passed all points. */
          const kept = Effect.fnUntraced(function* <E, R>(part: (typeof parts)[number], run: Effect.Effect<Run, E, R>) {
            const isOver = yield* Deferred.make<void>()
            for (const point of points) {
              const copy = Effect.provideContext(copied(dataDir, `${root}/${part}.${point}`), context)
              const isLast = point === "restore.settled"
              kills.at.set(point, isLast ? Effect.ensuring(copy, Deferred.succeed(isOver, undefined)) : copy)
            }
            const { id } = yield* run
            yield* Deferred.await(isOver)
            return yield* settled(id)
          })
          const { capsule } = yield* active("killed-restore", pureModule)
          const backup = yield* (yield* Capsules).backup(owner.context, owner.workspaceId, capsule.id)
          yield* applied(yield* replanned(capsule.id))
          const backups = yield* CapsuleBackups
          const asked = backups.restorePlan(owner.context, owner.workspaceId, backup.id, {}, undefined)
          const review = yield* kept(
            "review",
            Effect.map(asked, ({ value }) => value)
          )
          const restore = yield* kept("restore", applying(review))
          return { plane, capsuleId: capsule.id, runs: { review: review.id, restore: restore.id } }
        }).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
      }).pipe(Effect.provide(processAt(dataDir).pipe(Layer.provide(kills.layer)), { local: true }))

      for (const part of parts) {
        for (const point of points) {
          yield* Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            const run = yield* settled(runs[part])
            const restore = part === "restore" ? run : yield* applied(run)
            expect({ part, point, status: restore.status }).toEqual({ part, point, status: "succeeded" })
            const capsule = yield* (yield* Capsules).read(capsuleId)
            expect([capsule.currentStateGeneration, capsule.executionAuthorityEpoch, capsule.status]).toEqual([
              3,
              2,
              "stale"
            ])
            expect(capsule.currentStateVersionId).toBe(restore.stateVersionId)
            expect(
              yield* Effect.orDie(sql`SELECT COUNT(*) AS n FROM audit_events WHERE action = 'capsule.restored'`)
            ).toEqual([{ n: 1 }])
          }).pipe(
            Effect.provideService(TestPlane, TestPlane.of(plane)),
            Effect.provide(processAt(`${root}/${part}.${point}`), { local: true })
          )
        }
      }
    }).pipe(Effect.provide(platform)),
  120_000
)
