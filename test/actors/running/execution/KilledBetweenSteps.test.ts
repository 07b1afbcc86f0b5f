import { Database } from "bun:sqlite"
import { expect } from "bun:test"
import { join } from "node:path"
import { Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import type { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import type { CapsuleStatus } from "../../../../schema/records/Capsule.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import type { RunStatus } from "../../../../schema/records/Run.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { copied } from "../../../support/CopiedFolder.ts"
import { it } from "../../../support/Effect.ts"
import {
  applied,
  applying,
  bound,
  demoConnection,
  demoModule,
  planned,
  replanned,
  settled
} from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { type LeftFolders, lastingRunner } from "../../support/LastingRunner.ts"
import { pureModule } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const secrets = {
  input: "input-canary-5f2c90d1",
  credential: "credential-canary-77b1e3a4",
  state: "state-canary-c0ffee42"
}

const gaps = ["claimed", "prepared", "executed", "settled"] as const
type Gap = (typeof gaps)[number]
const types = ["plan", "apply", "drift_check", "destroy_plan", "destroy_apply"] as const
type Type = (typeof types)[number]

/** The remains of a killed process: its data folder, and the run folders on its machine. */
interface Left {
  readonly dataDir: string
  readonly folders: LeftFolders
}

/** The results that the preparation stored. */
interface Stored {
  readonly kind: string
  readonly data: string
}

const storedIn = ({ dataDir }: Left): ReadonlyArray<Stored> => {
  const database = new Database(join(dataDir, "svc.sqlite"), { readonly: true })
  const rows = database.query<Stored, []>("SELECT kind, data FROM run_preparations").all()
  database.close()
  return rows
}

/** Outcome of the Run after a kill, and the resulting state of the Run's Capsule. */
interface Ending {
  readonly status: RunStatus
  readonly attempt: number
  readonly capsule: readonly [status: CapsuleStatus, safety: "safe" | "unknown", generation: number]
}

const repeated = (status: RunStatus, capsule: Ending["capsule"]): Readonly<Record<Gap, Ending>> => {
  const again = { status, attempt: 2, capsule }
  return { claimed: again, prepared: again, executed: again, settled: { ...again, attempt: 1 } }
}

/** Steps without effects run again. An apply never runs twice. */
const endings: Readonly<Record<Type, Readonly<Record<Gap, Ending>>>> = {
  plan: repeated("waiting_approval", ["pending", "safe", 0]),
  apply: {
    claimed: { status: "failed", attempt: 1, capsule: ["pending", "safe", 0] },
    prepared: { status: "failed", attempt: 1, capsule: ["pending", "safe", 0] },
    executed: { status: "failed", attempt: 1, capsule: ["error", "unknown", 1] },
    settled: { status: "succeeded", attempt: 1, capsule: ["active", "safe", 1] }
  },
  drift_check: repeated("succeeded", ["active", "safe", 1]),
  destroy_plan: repeated("waiting_approval", ["active", "safe", 1]),
  destroy_apply: {
    claimed: { status: "failed", attempt: 1, capsule: ["active", "safe", 1] },
    prepared: { status: "failed", attempt: 1, capsule: ["active", "safe", 1] },
    executed: { status: "failed", attempt: 1, capsule: ["error", "unknown", 2] },
    settled: { status: "succeeded", attempt: 1, capsule: ["destroyed", "safe", 2] }
  }
}

it.live(
  "a process killed between two steps leaves enough data in the database to settle its Run, but no secrets",
  () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${root}/repository.git`)
      const first: Left = { dataDir: `${root}/data`, folders: new Map() }
      const points = killPoints()
      const left = new Map<string, Left>()

      const processAt = ({ dataDir, folders }: Left) =>
        Layer.fresh(planeAt({ dataDir, mirror, origins: [origin] }, { runner: lastingRunner(folders, secrets.state) }))

      const journey = Effect.gen(function* () {
        const context = yield* Effect.context<DatabaseFile>()
        const owner = yield* newOwner("owner")
        const plane = {
          ...owner,
          dataDir: first.dataDir,
          notesDir: mirror.notesDir,
          url,

          commit,
          moveBranch
        }

        /** Copies the files that would remain after a kill between any two steps, until the next Run of this type ends. */
        const kept = Effect.fnUntraced(function* <E, R>(type: Type, started: Effect.Effect<RunId, E, R>) {
          const isOver = yield* Deferred.make<void>()
          for (const gap of gaps) {
            const name = `${type}.${gap}` as const
            const copy = Effect.suspend(() => {
              const copy = { dataDir: `${root}/${name}`, folders: new Map(first.folders) }
              left.set(name, copy)
              return Effect.provideContext(copied(first.dataDir, copy.dataDir), context)
            })
            points.at.set(name, gap === "settled" ? Effect.ensuring(copy, Deferred.succeed(isOver, undefined)) : copy)
          }
          const id = yield* started
          yield* Deferred.await(isOver)
          return yield* settled(id)
        })

        return yield* Effect.gen(function* () {
          const capsules = yield* CapsuleCommands
          const connection = yield* demoConnection(secrets.credential)
          const files = { "main.tf": demoModule(pureModule["main.tf"]) }
          const given = { variables: { key: secrets.input }, options: { providerBindings: [bound(connection.id)] } }
          const plan = yield* kept(
            "plan",
            Effect.map(planned("killed", files, given), ({ plan }) => plan.id)
          )
          const capsuleId = plan.capsuleId ?? (yield* Effect.die("no Capsule"))
          const apply = yield* kept(
            "apply",
            Effect.map(applying(plan), ({ id }) => id)
          )
          const check = yield* kept(
            "drift_check",
            Effect.map(capsules.DriftCheck(capsuleId, { context: owner.context }), ({ id }) => id)
          )
          const destroying = capsules.DestroyPlan(capsuleId, { context: owner.context })
          const destroyPlan = yield* kept(
            "destroy_plan",
            Effect.map(destroying, ({ value }) => value.id)
          )
          const destroyApply = yield* kept(
            "destroy_apply",
            Effect.map(applying(destroyPlan), ({ id }) => id)
          )
          const runs = { plan, apply, drift_check: check, destroy_plan: destroyPlan, destroy_apply: destroyApply }
          return { plane, connectionId: connection.id, capsuleId, runs }
        }).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
      })
      const { capsuleId, connectionId, plane, runs } = yield* journey.pipe(
        Effect.provide(processAt(first).pipe(Layer.provide(points.layer)), { local: true })
      )
      expect(left.size).toBe(types.length * gaps.length)

      for (const type of types) {
        for (const gap of gaps) {
          const name = `${type}.${gap}`
          const folder = left.get(name) ?? (yield* Effect.die(`${name} was not passed`))
          const isPrepared = gap === "prepared" || gap === "executed"
          const stored = storedIn(folder)
          expect([name, ...stored.map(({ kind }) => kind)]).toEqual([
            name,
            ...(isPrepared ? [type.replace("destroy_", "")] : [])
          ])
          // The row records which Connection was used, but none of its values.
          for (const { data } of stored) expect(data).toContain(connectionId)
          expect(canarySweep(folder.dataDir, Object.values(secrets))).toEqual([])

          yield* Effect.gen(function* () {
            const run = yield* settled(runs[type].id)
            const capsule = yield* (yield* Capsules).read(capsuleId)
            const { attempt, status } = run
            const { currentStateGeneration, runtimeSafety } = capsule
            const found: Ending = { attempt, status, capsule: [capsule.status, runtimeSafety, currentStateGeneration] }
            expect({ name, ...found }).toEqual({ name, ...endings[type][gap] })
            // Preparations are kept as evidence, whatever the Run's outcome.
            const isKnown = gap !== "claimed" || attempt > 1
            const used = run.providerResolutions?.map((resolution) => resolution.connectionId)
            expect({ name, used }).toEqual({ name, used: isKnown ? [connectionId] : undefined })
            if (status === "failed") expect(run.error?.code).toBe("apply_interrupted")
            expect(yield* Effect.orDie((yield* SqlClient.SqlClient)`SELECT kind FROM run_preparations`)).toEqual([])
            if (gap !== "executed") return
            // The settled Run does not block the next plan and its apply.
            const next = status === "waiting_approval" ? run : yield* replanned(capsuleId)
            expect({ name, status: (yield* applied(next)).status }).toEqual({ name, status: "succeeded" })
          }).pipe(
            Effect.provideService(TestPlane, TestPlane.of(plane)),
            Effect.provide(processAt(folder), { local: true })
          )
        }
      }
    }).pipe(Effect.provide(platform)),
  180_000
)
