import { expect } from "bun:test"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import { restoreFrom } from "../../../../src/database/Restore.ts"
import { noKeys } from "../../../src/database/support/Keyrings.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { it } from "../../../support/Effect.ts"
import { active, applied, applying, planned, settled } from "../../../support/Journey.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const module = (input: string) => ({ "main.tf": `resource "terraform_data" "a" { input = "${input}" }` })

it.live(
  "a restored service does not repeat an apply that may have run after the backup",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${folder}/repository.git`)
      const file = `${folder}/copy.sqlite`
      const planeIn = (dataDir: string) => planeAt({ dataDir, mirror, origins: [origin] })

      const told = yield* Effect.gen(function* () {
        const owner = yield* newOwner("owner")
        const plane = {
          ...owner,
          dataDir: `${folder}/a`,
          notesDir: mirror.notesDir,
          url,

          commit,
          moveBranch
        }
        return yield* Effect.gen(function* () {
          const runs = yield* RunCommands
          const waiting = yield* planned("waiting", module("a"))
          const approved = yield* planned("approved", module("b"))
          yield* runs.Approve(approved.plan.id, { context: owner.context })
          const steady = yield* active("steady", module("c"))
          yield* (yield* CapsuleCommands).Update(steady.capsule.id, {
            context: owner.context,
            autoUpdate: { enabled: true, apply: true }
          })
          const queued = yield* planned("queued", module("d"))
          const running = yield* planned("running", module("e"))
          const queuedApply = yield* applying(queued.plan)
          const runningApply = yield* applying(running.plan)
          yield* settled(queuedApply.id)
          yield* settled(runningApply.id)
          // Writes the backup without authentication, as an older release would, so that the test can edit the row below.
          yield* (yield* DatabaseFile).backup(file)
          // This apply runs after the backup, so the restored service has no record that the plan was used.
          expect((yield* applied(waiting.plan)).status).toBe("succeeded")
          return { plane, waiting, approved, steady, queued, running, queuedApply, runningApply }
        }).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
      }).pipe(Effect.provide(planeIn(`${folder}/a`)))

      // Simulates a backup that was written a moment earlier.
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE runs SET status = 'queued', started_at = NULL, finished_at = NULL, state_version_id = NULL
          WHERE id = ${told.queuedApply.id}`
        yield* sql`UPDATE runs SET status = 'running', owner = 'inst_test#1', finished_at = NULL, state_version_id = NULL
          WHERE id = ${told.runningApply.id}`
        for (const { capsuleId } of [told.queued, told.running]) {
          yield* sql`UPDATE capsules SET status = 'pending', current_state_version_id = NULL, current_state_generation = 0
            WHERE id = ${capsuleId}`
        }
      }).pipe(Effect.provide(Layer.fresh(layerWriter(file))))

      const restored = yield* restoreFrom(file, `${folder}/b`, { keys: noKeys, acceptUnauthenticated: true })
      expect(restored.ended).toMatchObject({ plans: 2, applies: 2, automaticApplies: 1 })
      yield* files.copyFile(`${folder}/a/master.key`, `${folder}/b/master.key`)
      yield* files.chmod(`${folder}/b/master.key`, 0o600)

      yield* Effect.gen(function* () {
        const runs = yield* Runs
        const capsules = yield* Capsules
        const { context } = told.plane
        for (const { plan } of [told.waiting, told.approved]) {
          expect((yield* runs.read(plan.id)).status).toBe("superseded")
          expect((yield* Effect.flip(runs.apply(context, plan.id, undefined))).code).toBe("failed_precondition")
        }
        for (const [{ capsuleId }, apply] of [
          [told.queued, told.queuedApply],
          [told.running, told.runningApply]
        ] as const) {
          const run = yield* settled(apply.id)
          expect([run.status, run.error?.code]).toEqual(["failed", "apply_interrupted"])
          expect(run.possiblyCreated).toEqual(["terraform_data.a"])
          const capsule = yield* capsules.read(capsuleId)
          expect([capsule.status, capsule.runtimeSafety]).toEqual(["error", "unknown"])
        }
        const steady = yield* capsules.read(told.steady.capsule.id)
        expect([steady.status, steady.autoUpdate, steady.driftStatus]).toEqual([
          "active",
          { enabled: true, apply: false },
          "unknown"
        ])
      }).pipe(Effect.provide(Layer.fresh(planeIn(`${folder}/b`))))
    }).pipe(Effect.provide(platform)),
  120_000
)
