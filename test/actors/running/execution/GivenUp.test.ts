import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { Cause, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { expirePlans } from "../../../../actors/upkeep/cleanup/BackgroundCleanup.ts"
import type { KillPointName } from "../../../../actors/base/KillPoint.ts"
import { Members } from "../../../../actors/access/member/Members.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { awaitRun } from "../../../../actors/ledger/run/RunJournal.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import type { CommandContext } from "../../../../schema/commands/Command.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { type ConnectionId, RunId } from "../../../../schema/records/Ids.ts"
import type { Run, RunType } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { nothingDue } from "../../../support/NothingDue.ts"
import { active, bound, demoConnection, demoModule, freshKey, replanned, settled } from "../../../support/Journey.ts"
import { setRun } from "../../../support/HeldRuns.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { admin, approve, ruled, subjectOf } from "../../support/ApprovalSteps.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

/** Number of cases, and the seed that selects them from all combinations of Run, point and action. */
const cases = Number(process.env["SVC_GIVEN_UP_CASES"] ?? 12)
const seed = Number(process.env["SVC_GIVEN_UP_SEED"] ?? 20_261_129)
setDefaultTimeout(20_000 + cases * 4_000)

/** Ids of the Runs whose tool has been permitted to start. */
const started = new Set<string>()

/** A runner that starts no processes. Like the shipped runner, it requests permission before it starts the tool. */
const runner = Layer.effect(
  ModuleRunner,
  Effect.map(ModuleRunner, (pure) =>
    ModuleRunner.of({
      ...pure,
      apply: (job, control) =>
        (control.recordStart ?? Effect.void).pipe(
          Effect.andThen(Effect.sync(() => started.add(job.runId))),
          Effect.andThen(pure.apply(job, control))
        )
    })
  )
).pipe(Layer.provideMerge(pureRunner(pureModules())))

const points = killPoints()
const tests = suite(testPlane({ runner }).pipe(Layer.provide(points.layer)))
afterAll(tests.dispose)

const steps = ["claimed", "prepared", "executed"] as const

/**
 * Points at which each kind of Run can be stopped. At `approved`, the plan is approved but no apply has been requested.
 * `followed` is the plan of a commit that the Capsule follows, up to and including its apply. At `settled`, the plan has
 * been computed, and the service may approve it.
 */
const pointsOf = {
  followed: [...steps, "settled"],
  plan: steps,
  destroy_plan: steps,
  drift_check: steps,
  source_sync: steps,
  compatibility_check: steps,
  backup: ["claimed"],
  restore: ["claimed"],
  restored: ["approved", "claimed"],
  apply: ["approved", ...steps],
  destroy_apply: ["approved", ...steps]
} as const
type Kind = keyof typeof pointsOf
type Point = "approved" | "settled" | (typeof steps)[number]

const acts = ["cancel", "withdraw", "supersede", "expire", "disable", "revoke", "rule", "approver"] as const
type Act = (typeof acts)[number]

interface Case {
  readonly kind: Kind
  readonly point: Point
  readonly act: Act
}

const kinds = Object.keys(pointsOf).filter((name): name is Kind => name in pointsOf)
const all: ReadonlyArray<Case> = kinds.flatMap((kind) =>
  pointsOf[kind].flatMap((point) => acts.map((act) => ({ kind, point, act })))
)

const typeOf = (kind: Kind): RunType => (kind === "restored" ? "restore" : kind === "followed" ? "plan" : kind)
/** Kinds of Run that execute a plan that people approved. */
const carriesOut = (kind: Kind) => kind === "apply" || kind === "destroy_apply" || kind === "restored"
const makesPlan = (kind: Kind) => kind === "plan" || kind === "destroy_plan" || kind === "restore"

/** The records that all cases of one Capsule share. */
interface Scene {
  readonly capsule: Capsule
  readonly connectionId: ConnectionId
  readonly approver: CommandContext
}

/** The response to the action, and whether the tool had started when the response arrived. */
interface Answer {
  readonly run: Run | undefined
  readonly refused: string | undefined
  readonly hadStarted: boolean
}

const act = Effect.fnUntraced(function* (which: Act, scene: Scene, run: Run | undefined, planId: RunId | undefined) {
  const { context } = yield* TestPlane
  const { capsule } = scene
  switch (which) {
    case "cancel":
      return yield* (yield* RunCommands).Cancel(run?.id ?? planId ?? (yield* Effect.die("no Run")), { context })
    case "withdraw":
      return yield* (yield* RunCommands).Cancel(planId ?? run?.id ?? (yield* Effect.die("no Run")), { context })
    case "supersede": {
      const capsules = yield* Capsules
      const capsuleCommands = yield* CapsuleCommands
      const { authorityGuard } = (yield* capsules.read(capsule.id)).installConfigReAdoption
      const change = { variablePatch: { set: { a: "other" } }, expected: { authorityGuard } }
      return yield* capsuleCommands.ConfigurationPlan(capsule.id, { context, request: change, idempotency: freshKey() })
    }
    case "expire": {
      const id = planId ?? run?.id
      if (id === undefined) return
      yield* setRun(id, { expires_at: "2020-01-01T00:00:00.000Z" })
      return yield* expirePlans
    }
    case "disable":
      return yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { status: "disabled" } })
    case "revoke":
      return yield* (yield* ConnectionCommands).Revoke(scene.connectionId, { context })
    case "rule":
      return yield* ruled({ approvers: 5, planAuthorCounts: false })
    case "approver": {
      const owner = { workspaceId: capsule.workspaceId, acting: { subject: subjectOf(context) } }
      return yield* (yield* Members).remove(context, owner, subjectOf(scene.approver))
    }
  }
})

const answered = Effect.fnUntraced(function* (
  which: Act,
  scene: Scene,
  kind: Kind,
  planId: RunId | undefined
): Effect.fn.Return<Answer, never, Effect.Services<ReturnType<typeof act>> | Runs | SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const running = yield* Effect.orDie(sql<{ id: RunId }>`SELECT id FROM runs WHERE type = ${typeOf(kind)}
    AND (status = 'running' OR trigger_kind = 'auto_update')
    AND (capsule_id = ${scene.capsule.id} OR (capsule_id IS NULL AND source_id = ${scene.capsule.sourceId}))`)
  const [row] = running
  const run = row === undefined ? undefined : yield* Effect.orDie((yield* Runs).read(row.id))
  const hadStarted = run !== undefined && started.has(run.id)
  const refused = yield* act(which, scene, run, planId).pipe(
    Effect.as(undefined),
    Effect.catch((error) => Effect.succeed(error.message))
  )
  return { run, refused, hadStarted }
})

/** Reports a commit by webhook, lets the Capsule follow it, and returns the resulting apply, if any. */
const followed = Effect.fnUntraced(function* (capsule: Capsule) {
  const { commit, context } = yield* TestPlane
  const sources = yield* Sources
  const sourceCommands = yield* SourceCommands
  const capsules = yield* CapsuleCommands
  yield* sourceCommands.Update(capsule.sourceId, { context, request: { autoSync: true } })
  yield* capsules.Update(capsule.id, { context, autoUpdate: { enabled: true, apply: true } })
  const { hookSecret = "" } = yield* sourceCommands.RenewHookSecret(capsule.sourceId, { context, hookSecretVersion: 1 })
  yield* commit(capsule.name, { "main.tf": demoModule(`${pureModule["main.tf"]} # newer`) })
  const body = Stream.make(new TextEncoder().encode("{}"))
  const { runIds } = yield* sources.hook(capsule.sourceId, { proofs: { secrets: [hookSecret] }, body })
  yield* Effect.forEach(runIds, (id) => awaitRun(RunId.make(id)))
  // Loops, because the end of a Run may start the next Run.
  for (const _ of ["the plan", "its apply", "what follows"]) {
    yield* nothingDue
    yield* capsules.Update(capsule.id, { context })
    const { items } = yield* (yield* Runs).list(capsule.workspaceId, { capsuleId: capsule.id }, { limit: 50 })
    for (const { id } of items) yield* awaitRun(id)
  }
  const { items } = yield* (yield* Runs).list(capsule.workspaceId, { capsuleId: capsule.id }, { limit: 50 })
  return items.find(({ trigger, type }) => trigger === "auto_update" && type === "apply")
})

/** Starts a Run of this kind and returns it once it has ended. Returns `undefined` if svc rejected the Run. */
const performed = Effect.fnUntraced(function* (kind: Kind, { capsule }: Scene, planId: RunId | undefined) {
  const { commit, context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const sources = yield* Sources
  const newest = Effect.flatMap(
    Effect.orDie(sql<{ id: RunId }>`SELECT id FROM runs WHERE type = ${typeOf(kind)} AND
      (capsule_id = ${capsule.id} OR (capsule_id IS NULL AND source_id = ${capsule.sourceId}))
      ORDER BY created_at DESC, id DESC LIMIT 1`),
    ([row]) => (row === undefined ? Effect.die(`no ${kind}`) : settled(row.id))
  )
  switch (kind) {
    case "followed":
      return yield* followed(capsule)
    case "plan":
      return yield* replanned(capsule.id)
    case "destroy_plan":
      return yield* settled((yield* capsuleCommands.DestroyPlan(capsule.id, { context })).value.id)
    case "drift_check":
      return yield* settled((yield* capsuleCommands.DriftCheck(capsule.id, { context })).id)
    case "source_sync":
      yield* commit(capsule.name, { "main.tf": demoModule(`${pureModule["main.tf"]} # newer`) })
      return yield* settled((yield* sources.sync(context, capsule.sourceId, {})).id)
    case "compatibility_check": {
      const { items } = yield* sources.snapshots(capsule.sourceId, { limit: 1 })
      const [snapshot] = items
      if (snapshot === undefined) return yield* Effect.die("no snapshot")
      yield* Effect.ignore(
        sources.checkCompatibility(context, capsule.sourceId, { sourceSnapshotId: snapshot.id, modulePath: "." })
      )
      return yield* newest
    }
    case "backup":
      yield* Effect.ignore(capsules.backup(context, workspaceId, capsule.id))
      return yield* newest
    case "restore": {
      const backup = yield* capsules.backup(context, workspaceId, capsule.id)
      const review = yield* (yield* CapsuleBackups).restorePlan(context, workspaceId, backup.id, {}, undefined)
      return yield* settled(review.value.id)
    }
    case "apply":
    case "destroy_apply":
    case "restored": {
      const applied = yield* Effect.result(
        (yield* Runs).apply(context, planId ?? (yield* Effect.die("no plan")), undefined)
      )
      return applied._tag === "Failure" ? undefined : yield* settled(applied.success.value.id)
    }
  }
})

/** Creates an approved plan if this kind of Run executes one. */
const approvedFor = Effect.fnUntraced(function* (kind: Kind, scene: Scene) {
  const { context, workspaceId } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { capsule } = scene
  const plan = Effect.gen(function* () {
    switch (kind) {
      case "apply":
        return yield* replanned(capsule.id)
      case "destroy_apply":
        return yield* settled((yield* capsuleCommands.DestroyPlan(capsule.id, { context })).value.id)
      case "restored": {
        const backup = yield* capsules.backup(context, workspaceId, capsule.id)
        const review = yield* (yield* CapsuleBackups).restorePlan(context, workspaceId, backup.id, {}, undefined)
        return yield* settled(review.value.id)
      }
      default:
        return undefined
    }
  })
  const made = yield* plan
  if (made !== undefined) yield* approve(scene.approver, made)
  return made?.id
})

/** Returns the records that a Run of this kind changes. A stopped Run must leave these records unchanged. */
const effects = Effect.fnUntraced(function* ({ capsule }: Scene, kind: Kind) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(
    Effect.all([
      sql`SELECT current_state_generation, drift_status, drift_checked_at FROM capsules WHERE id = ${capsule.id}`,
      sql`SELECT id FROM state_versions WHERE capsule_id = ${capsule.id}`,
      // Omits snapshots for `followed`, because the action stops the Capsule's Run but not the check of the lane, which
      // stores a snapshot.
      kind === "followed"
        ? Effect.succeed([])
        : sql`SELECT id FROM source_snapshots WHERE source_id = ${capsule.sourceId} ORDER BY id`,
      sql`SELECT b.id FROM backups b JOIN runs r ON r.id = b.created_by_run_id WHERE r.status = 'cancelled'`
    ])
  )
})

const withoutRules = Effect.gen(function* () {
  yield* (yield* SqlClient.SqlClient)`DELETE FROM approval_rules`
}).pipe(Effect.orDie)

/** Returns true if this action must stop the Run at this point once svc has accepted the action. */
const mustHold = ({ act: which, kind, point }: Case, { hadStarted, run }: Answer): boolean => {
  if (kind === "followed") {
    // At a later point the apply may have started, so svc would have rejected the cancel.
    if (point === "settled") return which === "cancel" || which === "withdraw"
    return which !== "approver" && which !== "expire"
  }
  if (which === "cancel") return run !== undefined || point === "approved"
  // Disabling affects only lane checks: an explicit sync and the Runs of Capsules continue.
  if (which === "disable") return false
  // A plan no longer expires once an apply has leased it.
  if (which === "expire") return point === "approved"
  // A restore uses no Connection.
  if (kind === "restored" && which === "revoke") return false
  if (carriesOut(kind)) return !hadStarted
  if (which === "withdraw") return true
  if (which === "supersede") return makesPlan(kind)
  if (which === "revoke") return kind === "plan" || kind === "destroy_plan" || kind === "drift_check"
  return false
}

const check = Effect.fnUntraced(function* (given: Case, index: number) {
  const { kind, point } = given
  const name = `given-up-${index}`
  yield* withoutRules
  const connection = yield* demoConnection("a token that is only held")
  const files = { "main.tf": demoModule(pureModule["main.tf"]) }
  const { capsule } = yield* active(name, files, { options: { providerBindings: [bound(connection.id)] } })
  const approver = yield* admin
  const scene: Scene = { capsule, connectionId: connection.id, approver }
  // Adds an approval rule, so that the service does not approve the plan automatically.
  if (kind !== "followed") yield* ruled({ approvers: 1, planAuthorCounts: false })
  const planId = yield* approvedFor(kind, scene)
  const before = yield* effects(scene, kind)
  const answers: Array<Answer> = []
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof answered>>>()
  const acting = answered(given.act, scene, kind, planId).pipe(
    Effect.map((answer) => answers.push(answer)),
    Effect.asVoid,
    Effect.provideContext(services)
  )
  if (point === "approved") yield* acting
  else points.at.set(`${typeOf(kind)}.${point}` satisfies KillPointName, acting)
  const run = yield* performed(kind, scene, planId)
  const [answer] = answers
  if (answer === undefined) return yield* Effect.die(new Error(`${kind} does not pass ${point}`))
  const facts = { ...given, refused: answer.refused, status: run?.status, error: run?.error?.code }
  if (answer.refused !== undefined) {
    expect({ ...facts, hasReason: answer.refused.length > 10 }).toMatchObject({ hasReason: true })
    return { ...facts, seen: "refused" }
  }
  if (!mustHold(given, answer)) {
    if (given.act === "approver" && !carriesOut(kind)) {
      // If no action is taken, the Run must complete. Otherwise the test would not prove that the actions stop the Run.
      expect({ ...facts, ended: run?.status }).toMatchObject({
        ended: makesPlan(kind) ? "waiting_approval" : "succeeded"
      })
    }
    return { ...facts, seen: "goes on" }
  }
  const isAfterStart = answer.hadStarted
  if (given.act === "cancel" && run !== undefined) expect({ ...facts }).toMatchObject({ status: "cancelled" })
  if (isAfterStart) {
    expect({ ...facts, version: run?.stateVersionId !== undefined }).toMatchObject({
      error: "applied_before_cancel",
      version: true
    })
    return { ...facts, seen: "evidence kept" }
  }
  // From here on, the Run must neither start nor continue.
  if (run !== undefined) expect({ ...facts, started: started.has(run.id) }).toMatchObject({ started: false })
  expect({ ...facts, goesOn: run?.status === "succeeded" || run?.status === "waiting_approval" }).toMatchObject({
    goesOn: false
  })
  for (const { id } of (yield* (yield* Runs).list(capsule.workspaceId, { capsuleId: capsule.id }, { limit: 50 }))
    .items) {
    yield* awaitRun(id)
  }
  expect({ ...facts, effects: yield* effects(scene, kind) }).toEqual({ ...facts, effects: before })
  return { ...facts, seen: "holds" }
})

test("the selected cases cover every kind of Run, every point and every action", () => {
  expect(all.length).toBe(31 * acts.length)
})

tests.live(`a stopped Run has no effect, or the request to stop it is rejected (seed ${seed}, ${cases} cases)`, () =>
  Effect.gen(function* () {
    const chosen =
      cases >= all.length
        ? all
        : (fc.sample(fc.shuffledSubarray([...all], { minLength: cases, maxLength: cases }), { seed, numRuns: 1 })[0] ??
          [])
    const broken: Array<string> = []
    for (const [index, given] of chosen.entries()) {
      const found = yield* Effect.exit(check(given, index))
      points.at.clear()
      if (found._tag === "Failure") broken.push(`${JSON.stringify(given)}: ${Cause.pretty(found.cause)}`)
      if (process.env["SVC_GIVEN_UP_PRINT"] !== undefined) {
        yield* Effect.logInfo(JSON.stringify(found._tag === "Success" ? found.value : given))
      }
    }
    // Reports all failing cases together, since they may have the same cause.
    expect(broken).toEqual([])
    yield* withoutRules
  })
)
