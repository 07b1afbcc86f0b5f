import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../actors/base/database/Table.ts"
import { Capsules } from "../../actors/commands/capsule/Capsules.ts"
import { Connections } from "../../actors/inputs/connection/Connections.ts"
import { InstallPlans } from "../../actors/commands/install-plan/InstallPlans.ts"
import { Runs, RunStreams } from "../../actors/ledger/run/Runs.ts"
import { awaitRun } from "../../actors/ledger/run/RunJournal.ts"
import type { CommitFiles } from "../../src/testing/git-server/RepositoryWriter.ts"
import type { CreateInstallPlan } from "../../schema/api/InstallPlansApi.ts"
import type { ConnectionUse } from "../../schema/records/ConnectionUse.ts"
import {
  type CapsuleId,
  type ConnectionId,
  type InstallPlanId,
  type RevisionPlanId,
  RunId
} from "../../schema/records/Ids.ts"
import type { InstallPlan, RevisionPlan } from "../../schema/records/InstallPlan.ts"
import { RelativePath } from "../../schema/records/Primitives.ts"
import type { Run } from "../../schema/records/Run.ts"
import { demo, TestPlane } from "./TestPlane.ts"
import { reviewed } from "./ReviewedPlan.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"
import { InstallPlanCommands } from "../../schema/commands/InstallPlanCommands.ts"
import { RunCommands } from "../../schema/commands/RunCommands.ts"

let keys = 0

/** Returns an unused idempotency key, with the request's digest. */
export const freshKey = (digest = "digest") => {
  keys += 1
  return { key: `key-${keys}`, requestDigest: digest }
}

/** Waits until the Run is neither queued nor running, and returns it. */
export const settled = Effect.fnUntraced(function* (id: RunId) {
  yield* awaitRun(id)
  return yield* (yield* Runs).read(id)
})

/** Waits for an event of a Run. By default, waits for the first event of its kind. */
export const eventOf = Effect.fnUntraced(function* (id: RunId, kind: string, times = 1) {
  const streams = yield* RunStreams
  for (;;) {
    const changed = Promise.withResolvers<void>()
    const stop = streams.listen(id, changed.resolve)
    const { items, done } = yield* streams.events(id, 0, 1000)
    const found = items.filter((event) => event.kind === kind)[times - 1]
    if (found === undefined && !done) yield* Effect.promise(() => changed.promise)
    stop()
    if (found !== undefined) return found
    if (done) return yield* Effect.die(new Error(`Run ${id} ended without ${kind}: ${items.map((e) => e.kind)}`))
  }
})

const CoordinatedRun = rowShape({ id: RunId })

/**
 * Returns the newest Run that an install plan or revision plan has started and is waiting for.
 */
export const coordinatedRun = Effect.fnUntraced(function* (planId: InstallPlanId | RevisionPlanId) {
  const sql = yield* SqlClient.SqlClient
  const newest = sql.literal("COALESCE(plan_run_id, check_run_id, sync_run_id)")
  const [run] = yield* CoordinatedRun.rows(sql)`SELECT ${newest} AS id FROM install_plans
      WHERE id = ${planId} AND ${newest} IS NOT NULL
    UNION ALL SELECT ${newest} AS id FROM revision_plans WHERE id = ${planId} AND ${newest} IS NOT NULL`
  return run?.id
}, Effect.orDie)

type Coordinated = Pick<InstallPlan | RevisionPlan, "id" | "nextAction">

/** Advances an install or revision, as the background work does, until it can be reviewed or has failed. */
export const stepped = Effect.fnUntraced(function* <P extends Coordinated, E, R>(reconcile: Effect.Effect<P, E, R>) {
  for (;;) {
    const plan = yield* reconcile
    if (plan.nextAction !== "reconcile") return plan
    const run = yield* coordinatedRun(plan.id)
    if (run !== undefined) yield* awaitRun(run)
  }
})

export const driven = Effect.fnUntraced(function* (id: InstallPlanId) {
  const { context } = yield* TestPlane
  return yield* stepped((yield* InstallPlanCommands).Reconcile(id, { context }))
})

export type InstallOptions = Pick<CreateInstallPlan, "variables" | "options" | "initialConfiguration">

/** Builds a request to install the module at the root of a branch. */
export const requestOf = Effect.fnUntraced(function* (branch: string, more: InstallOptions = {}) {
  const { url } = yield* TestPlane
  return {
    source: { name: branch, url, ref: branch },
    capsule: { name: branch, environment: "test" },
    ...more,
    options: { modulePath: RelativePath.make("."), ...more.options }
  } satisfies CreateInstallPlan
})

/** Commits a module on a separate branch and installs it; returns the install plan once the install has finished. */
export const install = Effect.fnUntraced(function* (branch: string, files: CommitFiles, more: InstallOptions = {}) {
  const { commit, context, workspaceId } = yield* TestPlane
  yield* commit(branch, files)
  const created = yield* (yield* InstallPlans).create(context, workspaceId, yield* requestOf(branch, more), freshKey())
  return yield* driven(created.value.id)
})

/** Installs a module up to its reviewable plan. */
export const planned = Effect.fnUntraced(function* (branch: string, files: CommitFiles, more: InstallOptions = {}) {
  const plan = yield* install(branch, files, more)
  if (plan.phase !== "reviewable" || plan.planRunId === undefined || plan.capsuleId === undefined) {
    return yield* Effect.die(new Error(`${branch} is not reviewable: ${JSON.stringify(plan.diagnostics)}`))
  }
  return { capsuleId: plan.capsuleId, plan: yield* settled(plan.planRunId) }
})

/** Approves a plan and starts its apply. */
export const applying = Effect.fnUntraced(function* (plan: Run) {
  const { context } = yield* TestPlane
  const runs = yield* Runs
  const runCommands = yield* RunCommands
  yield* runCommands.Approve(plan.id, { context, ...reviewed(plan) })
  return (yield* runs.apply(context, plan.id, undefined)).value
})

export const applied = (plan: Run) => Effect.flatMap(applying(plan), (apply) => settled(apply.id))

/** Installs and applies a Capsule. */
export const active = Effect.fnUntraced(function* (branch: string, files: CommitFiles, more: InstallOptions = {}) {
  const { capsuleId, plan } = yield* planned(branch, files, more)
  const apply = yield* applied(plan)
  if (apply.status !== "succeeded") return yield* Effect.die(new Error(JSON.stringify(apply.error)))
  return { capsule: yield* (yield* Capsules).read(capsuleId), plan, apply }
})

/** Computes a new plan for a Capsule. */
export const replanned = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context } = yield* TestPlane
  return yield* settled((yield* (yield* CapsuleCommands).Plan(capsuleId, { context })).value.id)
})

/** Creates a Connection for the demo provider with a separate token. */
export const demoConnection = Effect.fnUntraced(function* (token: string, use?: ConnectionUse) {
  const { context, notesDir, workspaceId } = yield* TestPlane
  return yield* (yield* Connections).create(context, {
    workspaceId,
    provider: demo,
    displayName: "demo",
    values: { DEMO_TOKEN: token, DEMO_DIR: notesDir },
    ...(use === undefined ? {} : { use })
  })
})

/** Returns the binding for a requirement of the demo provider. */
export const bound = (connectionId: ConnectionId, childAlias?: string) => ({
  provider: demo,
  moduleLocalName: "demo",
  connectionId,
  ...(childAlias === undefined ? {} : { childAlias })
})

/** Returns a module that uses the demo provider. */
export const demoModule = (body: string, extra = "") => `
terraform {
  required_providers {
    demo = {
      source  = "${demo}"
      version = "1.0.0"
      ${extra}
    }
  }
}
${body}
`

export const note = (name: string, extra = "") => `
resource "demo_note" "${name}" {
  name    = "${name}"
  content = "hello ${name}"
  ${extra}
}
`
