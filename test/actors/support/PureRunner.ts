import { createHash } from "node:crypto"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { StaleReasons } from "../../../actors/ledger/staleness/StaleReasons.ts"
import { transaction } from "../../../actors/base/database/Transaction.ts"
import { SourceLanes } from "../../../actors/ledger/source/SourceLanes.ts"
import { SourceStore } from "../../../actors/ledger/source/SourceStore.ts"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import { runnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import type { StateOutput } from "../../../runner/execution/RunOutcome.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { SourceSnapshotId } from "../../../schema/records/Ids.ts"

/**
 * A runner whose modules are functions of a plan's commit and inputs. A hundred interactions between Capsules take only as
 * long as one plan with the real tool.
 */
export interface PureModules {
  /** Faults, keyed by Capsule id. Each fault affects only the next plan or apply of its Capsule. */
  readonly faults: Map<string, "plan_fails" | "apply_fails" | "apply_fails_late">
  /** Capsules whose `value` does not depend on any commit or input. */
  readonly constant: Set<string>
  /** Capsules whose `value` repeats a secret. */
  readonly secretValues: Set<string>
  /** Inputs that each plan received, keyed by the plan's Run. */
  readonly plans: Map<string, Readonly<Record<string, unknown>>>
}

export const pureModules = (): PureModules => ({
  faults: new Map(),
  constant: new Set(),
  secretValues: new Set(),
  plans: new Map()
})

/** The module that the runner simulates, as the scan finds it. */
export const pureModule = {
  "main.tf": `
    variable "a" { default = "none" }
    variable "b" { default = "none" }
    variable "key" {
      default   = "none"
      sensitive = true
    }
    resource "terraform_data" "it" { input = [var.a, var.b, var.key] }
    output "value" { value = "" }
    output "other" { value = "" }
    output "secret" {
      value     = ""
      sensitive = true
    }`
}

const Planned = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const encodePlanned = Schema.encodeSync(Planned)
const decodePlanned = Schema.decodeUnknownSync(Planned)
const StateJson = Schema.fromJsonString(
  Schema.Struct({ serial: Schema.Int, outputs: Schema.Record(Schema.String, Schema.String) })
)
const encodeState = Schema.encodeSync(StateJson)
const decodeState = Schema.decodeUnknownSync(StateJson)

const bytes = (text: string) => Redacted.make(new TextEncoder().encode(text))
const textOf = (held: Redacted.Redacted<Uint8Array>) => new TextDecoder().decode(Redacted.value(held))
const digestOf = (text: string) => createHash("sha256").update(text).digest("hex")

interface OfRun {
  readonly capsule_id: string
  readonly resolved_commit: string
}

/** The module's Outputs. `value` depends on the commit and the inputs `a` and `b`, `other` on `b`, and `secret` on `key`. */
const outputsOf = (run: OfRun, job: PlanJob, isConstant: boolean): Record<string, string> => {
  if (job.mode === "destroy") return {}
  const input = (name: string) => {
    const variable = job.variables[name]
    return variable === undefined ? "none" : JSON.stringify(Redacted.value(variable.value))
  }
  const output = (...seen: ReadonlyArray<string>) => digestOf(JSON.stringify([run.capsule_id, ...seen])).slice(0, 16)
  return {
    other: output("other", input("b")),
    secret: output("secret", input("key")),
    value: isConstant ? output("value") : output("value", run.resolved_commit, input("a"), input("b"))
  }
}

const stateOutputs = (outputs: Readonly<Record<string, string>>, isSecret: boolean): ReadonlyArray<StateOutput> =>
  Object.entries(outputs).map(([name, value]) => ({
    name,
    type: "string",
    value: Redacted.make(value),
    sensitive: name === "secret" || (name === "value" && isSecret),
    origins: name === "value" && isSecret ? ["var.key"] : undefined
  }))

export const pureRunner = (modules: PureModules) => {
  const taken = (capsuleId: string, kinds: ReadonlyArray<string>) => {
    const fault = modules.faults.get(capsuleId)
    if (fault === undefined || !kinds.includes(fault)) return undefined
    modules.faults.delete(capsuleId)
    return fault
  }
  const runner = Layer.effect(
    ModuleRunner,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const runOf = Effect.fnUntraced(function* (id: string) {
        const [run] = yield* Effect.orDie(sql<OfRun>`SELECT capsule_id, resolved_commit FROM runs WHERE id = ${id}`)
        return run ?? (yield* Effect.die(new Error(`There is no Run ${id}`)))
      })
      const nothing = { diagnostics: [], envNames: [], sandboxLevel: "process" as const }
      return ModuleRunner.of({
        confinement: () => Effect.succeed({ isolation: "process", network: "isolated" }),
        plan: Effect.fnUntraced(function* (job) {
          const run = yield* runOf(job.runId)
          if (taken(run.capsule_id, ["plan_fails"]) !== undefined) {
            return yield* runnerFailure("plan_failed", "plan", "The plan failed.")
          }
          const given = Object.entries(job.variables).map(([name, { value }]) => [name, Redacted.value(value)])
          modules.plans.set(job.runId, Object.fromEntries(given))
          const planned = outputsOf(run, job, modules.constant.has(run.capsule_id))
          const text = encodePlanned(planned)
          return {
            ...nothing,
            tool: job.tool,
            planFile: bytes(text),
            secrets: { inputs: [], credentials: [], marked: [] },
            planDigest: `sha256:${digestOf(job.runId + text)}`,
            summary: { add: 0, change: 1, destroy: 0, replace: 0, import: 0, forget: 0 },
            resourceChanges: [],
            outputChanges: [],
            resourceDrift: [],
            plannedOutputs: Object.keys(planned).map((name) => ({
              name,
              sensitive: name === "secret" || (name === "value" && modules.secretValues.has(run.capsule_id)),
              unknown: false
            })),
            hasChanges: true,
            applyable: true
          }
        }),
        apply: Effect.fnUntraced(function* (job, { recordStart = Effect.void }) {
          yield* recordStart
          const run = yield* runOf(job.runId)
          const fault = taken(run.capsule_id, ["apply_fails", "apply_fails_late"])
          if (fault === "apply_fails") return yield* runnerFailure("prepare_failed", "apply", "It could not begin.")
          const before = job.state === undefined ? { serial: 0, outputs: {} } : decodeState(textOf(job.state))
          const outputs = decodePlanned(textOf(job.planFile))
          const serial = before.serial + 1
          return {
            ...nothing,
            tool: job.tool,
            exit: fault === undefined ? ("succeeded" as const) : ("failed" as const),
            state: bytes(encodeState({ serial, outputs })),
            lineage: `lineage of ${run.capsule_id}`,
            serial,
            resourceCount: 1,
            outputs: stateOutputs(outputs, modules.secretValues.has(run.capsule_id)),
            changedAnything: true,
            possiblyCreated: [],
            sandboxKilled: false
          }
        }),
        driftCheck: (job) => Effect.succeed({ ...nothing, tool: job.tool, drifted: false, resourceDrift: [] }),
        recover: () => Effect.succeed(Option.none()),
        withhold: (outputs) => Effect.succeed(outputs),
        discard: () => Effect.void
      })
    })
  )
  const tool = { name: "terraform", version: "1.0.0", path: "/nowhere/terraform", origin: "path" } as const
  return Layer.merge(runner, Layer.mock(Toolchain)({ resolve: () => Effect.succeed(tool) }))
}

let commits = 0

/** Adds a commit to a Capsule's lane, as a sync would, and returns the commit. */
export const newCommit = Effect.fnUntraced(function* (capsuleId: string, given?: string) {
  const sql = yield* SqlClient.SqlClient
  const store = yield* SourceStore
  const staleReasons = yield* StaleReasons
  const lanes = yield* SourceLanes
  commits += 1
  const commit = given ?? digestOf(`commit ${commits}`).slice(0, 40)
  return yield* Effect.gen(function* () {
    const [row] = yield* sql<{
      id: SourceSnapshotId
    }>`SELECT adopted_snapshot_id AS id FROM capsules WHERE id = ${capsuleId}`
    const adopted = yield* store.findSnapshot(row?.id ?? null)
    if (adopted === undefined) return yield* Effect.die(new Error(`${capsuleId} has adopted nothing`))
    const id = SourceSnapshotId.make(`snap_${digestOf(`snapshot ${commits} ${capsuleId}`).slice(0, 24)}`)
    const [newest] = yield* sql<{ at: string }>`SELECT MAX(created_at) AS at FROM source_snapshots`
    // The time must be later than the time of every earlier commit, even if commits follow each other quickly.
    const createdAt = new Date(Math.max(Date.now(), Date.parse(newest?.at ?? "") + 1)).toISOString()
    yield* sql`INSERT INTO source_snapshots ${sql.insert({ ...adopted, id, resolved_commit: commit, created_at: createdAt })}`
    const { path, ref, source_id: sourceId } = adopted
    yield* lanes.seen(sourceId, { ref, path }, { snapshotId: id, commit, lookedAt: createdAt })
    yield* staleReasons.laneMoved({ sourceId, ref, path, sourceSnapshotId: id })
    // Reuses the scan, because scanning the same files returns the same result.
    const columns = [
      "workspace_id",
      "source_id",
      "module_path",
      "status",
      "module_scan",
      "contract_digest",
      "created_by_run_id",
      "created_at"
    ]
    const list = sql.literal(columns.join(", "))
    const report = `rep_${id.slice(5)}`
    yield* sql`INSERT INTO compatibility_reports (id, source_snapshot_id, report, ${list})
      SELECT ${report}, ${id}, json_set(report, '$.id', ${report}, '$.sourceSnapshotId', ${id}), ${list}
      FROM compatibility_reports WHERE source_snapshot_id = ${adopted.id} LIMIT 1`
    return commit
  }).pipe(transaction(sql))
})
