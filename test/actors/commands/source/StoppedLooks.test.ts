import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { DeferredFollows } from "../../../../actors/commands/capsule/DeferredFollows.ts"
import type { KillPointName } from "../../../../actors/base/KillPoint.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { nothingDue } from "../../../support/NothingDue.ts"
import { active, settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import type { CommandsOf } from "../../../../schema/commands/Command.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

setDefaultTimeout(60_000)
const points = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

let branches = 0

/** Returns a Capsule that automatically plans and applies the commits of its lane, and a new commit. */
const behind = Effect.gen(function* () {
  const { commit, context } = yield* TestPlane
  const branch = `stopped-${(branches += 1)}`
  const { capsule } = yield* active(branch, pureModule)
  yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { autoSync: true } })
  yield* (yield* CapsuleCommands).Update(capsule.id, { context, autoUpdate: { enabled: true, apply: true } })
  const { hookSecret = "" } = yield* (yield* SourceCommands).RenewHookSecret(capsule.sourceId, {
    context,
    hookSecretVersion: 1
  })
  const newest = yield* commit(branch, { ...pureModule, "notes.txt": branch })
  return { capsule, newest, hookSecret }
})

type Switch = (
  capsule: Capsule
) => Effect.Effect<unknown, unknown, TestPlane | CommandsOf<"Source"> | CommandsOf<"Capsule">>

const sourceChanged = (change: { readonly autoSync?: boolean; readonly status?: "disabled" }) =>
  Effect.fnUntraced(function* ({ sourceId }: Capsule) {
    yield* (yield* SourceCommands).Update(sourceId, { context: (yield* TestPlane).context, request: change })
  })

const autoUpdateOff = Effect.fnUntraced(function* ({ id }: Capsule) {
  yield* (yield* CapsuleCommands).Update(id, { context: (yield* TestPlane).context, autoUpdate: { enabled: false } })
})

const switches = {
  "autoSync was turned off": sourceChanged({ autoSync: false }),
  "its Source was disabled": sourceChanged({ status: "disabled" }),
  "auto-update was turned off": autoUpdateOff
} satisfies Readonly<Record<string, Switch>>

const moments = [
  "source_sync.prepared",
  "source_sync.executed",
  "plan.claimed",
  "plan.executed",
  "apply.claimed",
  "apply.prepared"
] as const satisfies ReadonlyArray<KillPointName>

/**
 * Waits until the service has finished handling a commit, and returns the Runs that it started and the decisions that it
 * recorded.
 */
const followedBy = Effect.fnUntraced(function* (capsule: Capsule, look: RunId) {
  const { workspaceId } = yield* TestPlane
  const looked = yield* settled(look)
  const quiet = Effect.andThen(
    nothingDue,
    (yield* CapsuleCommands).Update(capsule.id, { context: (yield* TestPlane).context })
  )
  const runs = Effect.gen(function* () {
    const { items } = yield* (yield* Runs).list(workspaceId, { capsuleId: capsule.id }, { limit: 50 })
    const own = items.filter(({ trigger }) => trigger === "auto_update")
    return yield* Effect.forEach(own, ({ id }) => settled(id))
  })
  yield* quiet
  yield* runs
  yield* quiet
  const all = yield* runs
  const adopted = (yield* (yield* Capsules).read(capsule.id)).adoptedSourceRevision?.resolvedCommit
  return { looked, runs: all.map(({ status, type }) => `${type} ${status}`), adopted }
})

const byWebhook = Effect.fnUntraced(function* (capsule: Capsule, secret: string) {
  const body = Stream.make(new TextEncoder().encode("{}"))
  const { runIds } = yield* (yield* Sources).hook(capsule.sourceId, { proofs: { secrets: [secret] }, body })
  return RunId.make(runIds[0] ?? "")
})

const byPerson = Effect.fnUntraced(function* (capsule: Capsule) {
  return (yield* (yield* Sources).sync((yield* TestPlane).context, capsule.sourceId, {})).id
})

/** Turns the switch off when a Run reaches this kill point. */
const arranged = Effect.fnUntraced(function* (moment: KillPointName, capsule: Capsule, turned: Switch) {
  const context = yield* Effect.context<TestPlane | CommandsOf<"Source"> | CommandsOf<"Capsule">>()
  points.at.set(moment, Effect.asVoid(Effect.orDie(Effect.provideContext(turned(capsule), context))))
})

describe("Webhook checks", () => {
  for (const [name, turned] of Object.entries(switches)) {
    for (const moment of moments) {
      tests.live(`a commit reported by a webhook is not applied if ${name} at ${moment}`, () =>
        Effect.gen(function* () {
          const { capsule, hookSecret, newest } = yield* behind
          yield* arranged(moment, capsule, turned)
          const { adopted, looked, runs } = yield* followedBy(capsule, yield* byWebhook(capsule, hookSecret))
          expect(points.at.size).toBe(0)
          expect(adopted).not.toBe(newest)
          expect(runs.filter((run) => run === "apply succeeded")).toEqual([])
          const isLook = moment.startsWith("source_sync")
          if (isLook) expect(runs).toEqual([])
          // Whether a lane is checked depends on its Source's switches, not on the switches of the Capsules that follow the
          // lane.
          const isStopped = isLook && turned !== autoUpdateOff
          expect(looked.status).toBe(isStopped ? "cancelled" : "succeeded")
          if (isStopped) expect(looked.error?.code).toBe("source_stopped")
        })
      )
    }
  }

  tests.live("a commit reported by a webhook is applied if every switch stays on", () =>
    Effect.gen(function* () {
      const { capsule, hookSecret, newest } = yield* behind
      const { adopted, runs } = yield* followedBy(capsule, yield* byWebhook(capsule, hookSecret))
      expect([adopted, runs]).toEqual([newest, ["apply succeeded", "plan succeeded"]])
    })
  )
})

describe("Requested checks", () => {
  for (const moment of moments) {
    tests.live(
      `a commit found by a check that a person requested is applied even if autoSync is turned off at ${moment}`,
      () =>
        Effect.gen(function* () {
          const { capsule, newest } = yield* behind
          yield* arranged(moment, capsule, switches["autoSync was turned off"])
          const { adopted } = yield* followedBy(capsule, yield* byPerson(capsule))
          expect(points.at.size).toBe(0)
          expect(adopted).toBe(newest)
        })
    )
    tests.live(
      `a commit found by a check that a person requested is not applied if the Source is disabled at ${moment}`,
      () =>
        Effect.gen(function* () {
          const { capsule, newest } = yield* behind
          yield* arranged(moment, capsule, switches["its Source was disabled"])
          const { adopted, looked, runs } = yield* followedBy(capsule, yield* byPerson(capsule))
          expect(points.at.size).toBe(0)
          expect(adopted).not.toBe(newest)
          expect(runs).not.toContain("apply succeeded")
          expect(looked.status).toBe(moment.startsWith("source_sync") ? "cancelled" : "succeeded")
        })
    )
  }
})

tests.live("deferred work is dropped if its Source is disabled or stops following automatically", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const [name, turned] of Object.entries(switches).slice(0, 2)) {
      const { capsule, hookSecret, newest } = yield* behind
      // svc handles the stored messages only after the switch is off.
      yield* arranged("source_sync.executed", capsule, autoUpdateOff)
      yield* followedBy(capsule, yield* byWebhook(capsule, hookSecret))
      yield* (yield* CapsuleCommands).Update(capsule.id, {
        context: (yield* TestPlane).context,
        autoUpdate: { enabled: true }
      })
      yield* sql`UPDATE capsules SET deferred_snapshot_id = (SELECT id FROM source_snapshots
        WHERE source_id = ${capsule.sourceId} AND resolved_commit = ${newest}) WHERE id = ${capsule.id}`
      yield* turned(capsule)
      yield* (yield* SourceCommands).Update(capsule.sourceId, {
        context: (yield* TestPlane).context,
        request: { autoSync: true, status: "active" }
      })
      yield* (yield* DeferredFollows).followAll
      const { items } = yield* (yield* Capsules).autoUpdateDecisions(capsule.id, { limit: 1 })
      expect([name, items[0]?.decision]).toEqual([name, undefined])
    }
  })
)
