import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { cpSync } from "node:fs"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../../schema/errors/ApiError.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { CapsuleId, DependencyId, RunGroupId, RunId, type StateVersionId } from "../../../../schema/records/Ids.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active } from "../../../support/Journey.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { newOwner, planeAt, servedRepository, TestPlane } from "../../../support/TestPlane.ts"
import { newCommit, pureModule, type PureModules, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

/** `npm run test:values` runs many more random walks. */
const seeds = Number(process.env["SVC_VALUES_SEEDS"] ?? 2)
const steps = 20
setDefaultTimeout(20_000 + seeds * 20_000)

const tests = suite(platform)
afterAll(tests.dispose)

const decodeTaken = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, required: Schema.Boolean }))
  )
)
const decodeJson = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Json))

/** Generates the same pseudorandom numbers for the same seed. */
const numbers = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
type Below = ReturnType<typeof numbers>

/** Far more Runs than a walk needs, so exceeding the limit indicates an endless loop. */
const mostRuns = 1000

const quiet = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const busy = sql<{ n: number; runs: number }>`SELECT (SELECT COUNT(*) FROM runs WHERE status IN ('queued', 'running'))
    + (SELECT COUNT(*) FROM run_groups WHERE finished_at IS NULL AND type = 'update' AND moved <> seen) AS n,
    (SELECT COUNT(*) FROM runs) AS runs`
  const [row] = yield* eventually(Effect.orDie(busy), ([seen]) => seen?.n === 0 || (seen?.runs ?? 0) > mostRuns)
  expect(row?.runs).toBeLessThan(mostRuns)
})

interface AppliedRow {
  readonly id: string
  readonly status: string
  readonly stale_reasons: string
  readonly plan_run_id: string
}

interface EdgeRow {
  readonly mode: string
  readonly outputs: string
  readonly state_version_id: StateVersionId | null
}

/**
 * Number of inputs compared. It must not be zero, because a walk without consumers would pass without comparing anything.
 */
let compared = 0

/**
 * Checks that no idle `active` Capsule was applied with an input that its producer no longer provides. `plans` contains the
 * inputs that the runner received.
 */
const consistent = Effect.fnUntraced(function* (plans: PureModules["plans"], where: string) {
  const sql = yield* SqlClient.SqlClient
  const states = yield* StateVersions
  const rows = yield* sql<AppliedRow>`SELECT c.id, c.status, c.stale_reasons, a.plan_run_id FROM capsules c
    JOIN state_versions v ON v.id = c.current_state_version_id JOIN runs a ON a.id = v.created_by_run_id
    WHERE c.status IN ('active', 'stale')`
  for (const capsule of rows) {
    const about = `${where} ${capsule.id}`
    expect([about, capsule.status]).toEqual([about, capsule.stale_reasons === "[]" ? "active" : "stale"])
    if (capsule.status !== "active") continue
    const wanted: Record<string, unknown> = {}
    const edges = yield* sql<EdgeRow>`SELECT d.mode, d.outputs, p.current_state_version_id AS state_version_id
      FROM dependencies d JOIN capsules p ON p.id = d.producer_capsule_id
      WHERE d.consumer_capsule_id = ${capsule.id} AND d.mode <> 'remote_state' AND p.status <> 'destroyed'`
    for (const edge of edges) {
      const outputs = edge.state_version_id === null ? [] : yield* states.outputs(edge.state_version_id)
      for (const { from, to } of decodeTaken(edge.outputs)) {
        const output = outputs.find(({ name }) => name === from)
        if (output === undefined || (edge.mode === "published_output" && output.sensitive === 1)) continue
        wanted[to] = decodeJson(Redacted.value(yield* states.outputText(output)))
      }
    }
    compared += Object.keys(wanted).length
    expect([about, plans.get(capsule.plan_run_id)]).toEqual([about, wanted])
  }
})

/** Ignores failures, because another caller may have been faster, and because the service may reject the request. */
const attempt = <A, R>(asked: Effect.Effect<A, ApiError, R>) => Effect.option(asked)

const waitingPlans = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ id: string }>`SELECT id FROM runs WHERE type = 'plan' AND (status = 'waiting_approval'
    OR (status = 'succeeded' AND approved_at IS NOT NULL AND used_by_run_id IS NULL)) ORDER BY created_at, id`
})

const appliedNow = Effect.fnUntraced(function* (id: RunId) {
  const { context } = yield* TestPlane
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  yield* attempt(runCommands.Approve(id, { context }))
  yield* attempt(runs.apply(context, id, undefined))
})

const modes = ["variable_injection", "published_output", "remote_state"] as const

/** Creates Capsules that are up to date. Every Capsule except the first consumes an Output of an earlier Capsule. */
const linked = Effect.fnUntraced(function* (below: Below, ids: ReadonlyArray<CapsuleId>) {
  const { context } = yield* TestPlane
  const dependencies = yield* Dependencies
  const capsules = yield* CapsuleCommands
  for (const [index, id] of ids.entries()) {
    const producerCapsuleId = ids[below(Math.max(1, index))]
    if (index === 0 || producerCapsuleId === undefined) continue
    const outputs = [{ from: "value", to: "a", required: true }]
    // Each request may fail, because a process may have completed it before a crash.
    yield* attempt(dependencies.create(context, id, { producerCapsuleId, mode: "published_output", outputs }))
    yield* attempt(capsules.Plan(id, { context }))
    yield* quiet
    for (const plan of yield* waitingPlans) yield* appliedNow(RunId.make(plan.id))
    yield* quiet
  }
})

/** Performs one random action by a person, a repository or a machine. */
const step = Effect.fnUntraced(function* (below: Below, ids: ReadonlyArray<CapsuleId>, modules: PureModules) {
  const { context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  const dependencies = yield* Dependencies
  const any = () => ids[below(ids.length)] ?? CapsuleId.make("")
  const one = <A>(rows: ReadonlyArray<A>) => rows[below(Math.max(1, rows.length))]
  const capsuleId = any()
  switch (below(14)) {
    case 0:
    case 1:
      return yield* newCommit(capsuleId)
    case 2:
    case 3: {
      const mode = modes[below(modes.length)] ?? "remote_state"
      const wanted = [
        { from: ["value", "other"][below(2)] ?? "value", to: "a", required: below(2) === 0 },
        { from: mode === "variable_injection" ? "secret" : "value", to: ["b", "key"][below(2)] ?? "b", required: false }
      ]
      const outputs = mode === "remote_state" ? [] : wanted.slice(0, 1 + below(2))
      return yield* attempt(dependencies.create(context, capsuleId, { producerCapsuleId: any(), mode, outputs }))
    }
    case 4: {
      const row = one(yield* sql<{ id: string }>`SELECT id FROM dependencies ORDER BY created_at, id`)
      return row === undefined ? undefined : yield* attempt(dependencies.remove(context, DependencyId.make(row.id)))
    }
    case 5:
      return yield* attempt(capsuleCommands.Plan(capsuleId, { context }))
    case 6: {
      const kinds = ["plan_fails", "apply_fails", "apply_fails_late"] as const
      return modules.faults.set(capsuleId, kinds[below(kinds.length)] ?? "plan_fails")
    }
    case 7:
      return yield* attempt(capsules.planUpdate(context, workspaceId))
    case 8: {
      const row = one(yield* waitingPlans)
      return row === undefined ? undefined : yield* attempt(runCommands.Cancel(RunId.make(row.id), { context }))
    }
    case 9: {
      const open = yield* sql<{ id: string }>`SELECT id FROM run_groups WHERE finished_at IS NULL ORDER BY id`
      const row = below(3) === 0 ? one(open) : undefined
      return row === undefined
        ? undefined
        : yield* attempt(runs.cancelGroup(context, RunGroupId.make(row.id), undefined))
    }
    default: {
      const row = one(yield* waitingPlans)
      return row === undefined ? undefined : yield* appliedNow(RunId.make(row.id))
    }
  }
})

/** Checks that an update brings all Capsules up to date unless something blocks the update. */
const convergence = Effect.fnUntraced(function* (modules: PureModules, where: string) {
  const { context, workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  modules.faults.clear()
  const broken = yield* sql<{ id: string }>`SELECT id FROM capsules WHERE status = 'error' ORDER BY id`
  for (const { id } of broken) {
    yield* attempt(capsuleCommands.Plan(CapsuleId.make(id), { context }))
    yield* quiet
    for (const plan of yield* waitingPlans) yield* appliedNow(RunId.make(plan.id))
    yield* quiet
  }
  yield* attempt(capsules.planUpdate(context, workspaceId))
  for (let round = 0; round < 12; round++) {
    yield* quiet
    for (const { id } of yield* waitingPlans) yield* appliedNow(RunId.make(id))
  }
  yield* quiet
  const behind = yield* sql<{ id: string; status: string; stale_reasons: string }>`SELECT id, status, stale_reasons
    FROM capsules WHERE status <> 'active'`
  expect([where, behind]).toEqual([where, []])
  const open = yield* sql<{ id: string }>`SELECT id FROM run_groups WHERE finished_at IS NULL AND type = 'update'`
  expect([where, open]).toEqual([where, []])
})

tests.live(
  `after ${steps} random steps from ${seeds} seeds, no Capsule has an outdated value without being marked as stale`,
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const mirror = yield* providerMirror
      const { commit, moveBranch, origin, url } = yield* servedRepository(`${folder}/repository.git`)
      const modules = pureModules()
      /** Copies the data folder at the kill point at which the countdown reaches zero. */
      const crash: { left: number; to: string; of: string } = { left: 0, to: "", of: "" }
      const points = Layer.succeed(KillPoint, () =>
        Effect.sync(() => {
          if (crash.left === 0) return
          crash.left -= 1
          // Only this thread writes to the database, so the copy is identical to the files that a crash at this moment would
          // leave.
          if (crash.left === 0)
            cpSync(crash.of, crash.to, { recursive: true, filter: (path) => !path.includes("instance.") })
        })
      )
      const life = <A, E, R>(dataDir: string, lived: Effect.Effect<A, E, R>) =>
        lived.pipe(
          Effect.provide(
            Layer.fresh(planeAt({ dataDir, mirror, origins: [origin] }, { runner: pureRunner(modules) })).pipe(
              Layer.provideMerge(points)
            )
          )
        )
      let crashes = 0
      const base = `${folder}/base`
      const { ids, owner } = yield* life(
        base,
        Effect.gen(function* () {
          const owner = yield* newOwner("owner")
          const plane = { ...owner, dataDir: base, notesDir: mirror.notesDir, url, commit, moveBranch }
          const ids = yield* Effect.forEach(["one", "two", "three", "four"], (name) =>
            Effect.map(active(name, pureModule), ({ capsule }) => capsule.id)
          ).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
          yield* quiet
          return { ids, owner }
        })
      )
      for (let seed = 1; seed <= seeds; seed++) {
        const below = numbers(seed)
        let dataDir = `${folder}/seed-${seed}-0`
        cpSync(base, dataDir, { recursive: true })
        const walk = { steps: 0 }
        for (let lives = 1; walk.steps < steps; lives++) {
          const next = `${folder}/seed-${seed}-${lives}`
          Object.assign(crash, { left: 8 + below(60), to: next, of: dataDir })
          const plane = { ...owner, dataDir, notesDir: mirror.notesDir, url, commit, moveBranch }
          yield* life(
            dataDir,
            Effect.gen(function* () {
              yield* quiet
              yield* consistent(modules.plans, `seed ${seed} life ${lives}`)
              if (walk.steps === 0) yield* linked(below, ids)
              while (walk.steps < steps && crash.left > 0) {
                walk.steps += 1
                yield* step(below, ids, modules)
                if (below(2) === 0) yield* quiet
                if (crash.left > 0) yield* consistent(modules.plans, `seed ${seed} step ${walk.steps}`)
              }
              yield* quiet
              if (crash.left === 0) {
                crashes += 1
                return
              }
              crash.left = 0
              yield* consistent(modules.plans, `seed ${seed} end`)
              yield* convergence(modules, `seed ${seed}`)
              yield* consistent(modules.plans, `seed ${seed} converged`)
            }).pipe(Effect.provideService(TestPlane, TestPlane.of(plane)))
          )
          dataDir = next
        }
      }
      expect(compared).toBeGreaterThan(seeds * steps)
      expect(crashes).toBeGreaterThan(0)
    })
)
