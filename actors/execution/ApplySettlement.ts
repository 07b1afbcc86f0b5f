import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { ApplyExit, StateOutput, StateProblem } from "../../runner/execution/RunOutcome.ts"
import type { RunDiagnostic, RunEvidence } from "../../schema/records/Run.ts"
import type { SecretText } from "../../runner/redaction/SecretText.ts"
import { consumedOfPlan } from "../consumption/ConsumedOutputs.ts"
import { Deliveries } from "../delivery/Deliveries.ts"
import { InterfaceSettlement } from "../interface/InterfaceSettlement.ts"
import { now } from "../Identity.ts"
import { RunCheckpoints } from "../state/RunCheckpoints.ts"
import { transaction } from "../database/Transaction.ts"
import { type HoldLost, holdLost, type RunHold } from "../run/RunHold.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { RunLifecycle } from "../run/RunLifecycle.ts"
import { RunPlans } from "./RunPlans.ts"
import type { RunRow } from "../run/RunRow.ts"
import { type BuildColumns, buildColumns } from "../build/BuildColumns.ts"
import { pinOf } from "../authority/AutoUpdatePins.ts"
import { makeConclusion, type PostApplyOutcome } from "./ApplyConclusion.ts"
import { CapsuleLedger } from "../authority/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../authority/CapsuleRow.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import { contentOf, PathFilters } from "../staleness/PathFilters.ts"
import { StaleReasons } from "../staleness/StaleReasons.ts"
import { SourceLanes } from "../source/SourceLanes.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { StateVersions } from "../state/StateVersions.ts"
import { orOnIntegrityFault } from "../vault/IntegrityFault.ts"

/** How an apply ended, as the runner saw it or as recovery found it. */
export interface ApplyResult {
  readonly exit: ApplyExit
  readonly state?: Redacted.Redacted<Uint8Array> | undefined
  readonly stateProblem?: StateProblem | undefined
  /** What was left but cannot be this Capsule's next state. It is kept, sealed, for a person to look at. */
  readonly rejectedState?: Redacted.Redacted<Uint8Array> | undefined
  readonly lineage?: string | undefined
  readonly serial?: number | undefined
  readonly resourceCount?: number | undefined
  /** Those that repeat a secret are marked. */
  readonly outputs: ReadonlyArray<StateOutput>
  readonly changedAnything: boolean
  readonly possiblyCreated: ReadonlyArray<string>
  readonly sandboxKilled: boolean
  readonly toolName?: "opentofu" | "terraform" | undefined
  readonly providerLock?: string | undefined
  readonly evidence: RunEvidence
  readonly error?: { readonly code: string; readonly message: string } | undefined
}

const endpointOutputs = ["public_endpoint", "endpoint_url", "url"]

/** `public_endpoint` is metadata: an https URL that the module itself puts into a public Output. */
const publicEndpoint = (outputs: ReadonlyArray<StateOutput>): string | null => {
  for (const name of endpointOutputs) {
    const output = outputs.find((candidate) => candidate.name === name && !candidate.sensitive)
    const value = output === undefined ? undefined : Redacted.value(output.value)
    if (typeof value === "string" && URL.parse(value)?.protocol === "https:") return value
  }
  return null
}

/** What is remembered of earlier inputs; the newest come first. */
const mostSecrets = { texts: 4_096, bytes: 512 * 1024 }

/** An input that was changed or removed is still in the state wherever nothing was updated, and in the next plan as what was before. */
const remembered = (now: ReadonlyArray<SecretText>, before: ReadonlyArray<SecretText>): ReadonlyArray<SecretText> => {
  const byText = new Map<string, SecretText>()
  let bytes = 0
  for (const secret of [...now, ...before]) {
    const text = Redacted.value(secret.value)
    if (byText.has(text) || byText.size === mostSecrets.texts || bytes + text.length > mostSecrets.bytes) continue
    byText.set(text, secret)
    bytes += text.length
  }
  return [...byText.values()]
}

const defaultError = (exit: ApplyExit) => {
  switch (exit) {
    case "timed_out":
      return { code: "apply_timed_out", message: "The apply did not finish in time and was ended." }
    case "killed":
      return { code: "apply_killed", message: "The apply was ended by force before it finished." }
    default:
      return { code: "apply_failed", message: "The tool reported that the apply failed." }
  }
}

/**
 * Commits what an apply left: StateVersion, Outputs, pointers, generation, status and the Run's end, in one transaction
 * (design, section 2). A state is never dropped: whatever can be read is committed, marked partial unless the apply succeeded.
 */
export class ApplySettlement extends Context.Service<
  ApplySettlement,
  {
    /**
     * Ends the Run, unless the operator has something checked after this apply: then state and Outputs are committed and the Run goes
     * on until `conclude`. Answers `true` in that case.
     */
    readonly settle: (hold: RunHold, result: ApplyResult) => Effect.Effect<boolean, HoldLost>
    /** Ends an apply whose state `settle` has committed, by what the checks after it found. */
    readonly conclude: (hold: RunHold, checks: PostApplyOutcome) => Effect.Effect<void, HoldLost>
  }
>()("svc/actors/execution/ApplySettlement") {
  static readonly layer = Layer.effect(
    ApplySettlement,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const runs = yield* RunLedger
      const lifecycle = yield* RunLifecycle
      const capsules = yield* CapsuleLedger
      const states = yield* StateVersions
      const checkpoints = yield* RunCheckpoints
      const plans = yield* RunPlans
      const configs = yield* InstallConfigStore
      const staleReasons = yield* StaleReasons
      const deliveries = yield* Deliveries
      const interfaces = yield* InterfaceSettlement
      const lanes = yield* SourceLanes
      const sources = yield* SourceStore
      const filters = yield* PathFilters

      const capsuleColumns = (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        result: ApplyResult,
        stateVersionId: string | undefined
      ): Record<string, string | number | null> => {
        const destroying = run.type === "destroy_apply"
        const pointers =
          stateVersionId === undefined
            ? {}
            : {
                current_state_version_id: stateVersionId,
                current_state_generation: capsule.current_state_generation + 1
              }
        if (result.exit === "succeeded") {
          const settled = {
            ...pointers,
            runtime_safety: "safe",
            tool_name: result.toolName ?? capsule.tool_name,
            provider_lock: result.providerLock ?? null
          }
          if (destroying) return { ...settled, status: "destroyed", public_endpoint: null, drift_status: "none" }
          return {
            ...settled,
            status: "active",
            public_endpoint: publicEndpoint(result.outputs),
            // An apply puts back what a check has found; it does not stand for the first check.
            drift_status: capsule.drift_checked_at === null ? "unknown" : "none"
          }
        }
        const uncertain =
          result.changedAnything ||
          result.possiblyCreated.length > 0 ||
          result.sandboxKilled ||
          result.stateProblem !== undefined
        return uncertain ? { ...pointers, status: "error", runtime_safety: "unknown" } : pointers
      }

      /** The lane and commit that the plan was made from become the tracked source. */
      const adopted = Effect.fnUntraced(function* (run: RunRow) {
        if (run.source_snapshot_id === null) return {}
        const rows = yield* sql<{ ref: string; path: string; resolved_commit: string }>`
          SELECT ref, path, resolved_commit FROM source_snapshots WHERE id = ${run.source_snapshot_id}`
        const snapshot = rows[0]
        if (snapshot === undefined) return {}
        return {
          adopted_snapshot_id: run.source_snapshot_id,
          adopted_ref: snapshot.ref,
          adopted_path: snapshot.path,
          adopted_commit: snapshot.resolved_commit,
          tracked_ref: snapshot.ref,
          tracked_path: snapshot.path
        }
      })

      /** Whether the commit that is applied differs in the module from the one at which its lane stands, before the transaction. */
      const prepareFilter = Effect.fnUntraced(function* (runId: string) {
        const run = yield* runs.find(runId)
        const capsule = yield* capsules.find(run?.capsule_id ?? "")
        const snapshot = yield* sources.findSnapshot(run?.source_snapshot_id ?? "")
        if (run?.type !== "apply" || run.install_config_id === null || snapshot === undefined) return
        if (capsule?.path_filter !== 1) return
        const newer = yield* sources.currentSnapshot(capsule.source_id, snapshot.ref, snapshot.path)
        if (newer === undefined || newer.resolved_commit === snapshot.resolved_commit) return
        const { install_config_id } = run
        yield* filters.prepare([{ ...capsule, install_config_id, adopted_snapshot_id: snapshot.id }], contentOf(newer))
      })

      /** A rollback holds the Capsule where it is, and remembers where the lane stood. */
      const pinned = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        lane: Record<string, string>
      ) {
        const plan = yield* runs.find(run.plan_run_id ?? "")
        const stands = yield* lanes.find(capsule.source_id, {
          ref: lane["adopted_ref"] ?? "",
          path: lane["adopted_path"] ?? ""
        })
        return pinOf(run, plan, { at: yield* now, commit: stands?.resolved_commit ?? null })
      })

      /** What the host does for an apply takes effect with it, or ends with a destroy. Answers what could not be done. */
      const hosted = Effect.fnUntraced(function* (
        run: RunRow,
        capsule: GuardedCapsuleRow,
        stateVersionId: string | undefined
      ): Effect.fn.Return<ReadonlyArray<RunDiagnostic>> {
        if (run.type === "destroy_apply") {
          yield* interfaces.destroyed(capsule.id)
          yield* deliveries.destroyed(capsule.id)
          return []
        }
        const config = yield* configs.load(run.install_config_id ?? "")
        if (config !== undefined && stateVersionId !== undefined) {
          yield* interfaces.applied({ runId: run.id, capsule, stateVersionId, config })
        }
        const problems = yield* deliveries.applied(run, capsule)
        return problems.map((detail) => ({
          severity: "warning" as const,
          summary: "The Capsule's identity was not registered.",
          detail
        }))
      })

      const ended = (
        hold: RunHold,
        result: ApplyResult,
        evidence: RunEvidence,
        data: { readonly stateVersionId?: string }
      ) => {
        switch (result.exit) {
          case "succeeded":
            return lifecycle.succeed(hold, data, evidence)
          case "cancelled":
            return lifecycle.cancel(hold, evidence, result.error, data)
          default:
            return lifecycle.fail(hold, result.error ?? defaultError(result.exit), evidence, data)
        }
      }

      const commit = Effect.fn("Capsule.settleApply")(function* (hold: RunHold, left: ApplyResult) {
        const { runId } = hold
        const run = yield* runs.held(hold)
        if (run === undefined) return yield* holdLost(hold)
        const capsule = yield* capsules.find(run.capsule_id ?? "")
        if (capsule === undefined || run.install_config_id === null)
          return yield* Effect.die(new Error(`The Capsule or configuration of Run ${runId} is gone`))
        const base =
          capsule.current_state_version_id === null ? undefined : yield* states.find(capsule.current_state_version_id)
        // An apply that has ended is recorded all the same; with a secret unknown no Output can be known to be public.
        const lost = orOnIntegrityFault(() => Effect.succeed("lost" as const))
        const ofPlan = yield* lost(plans.secrets(run.workspace_id, run.plan_run_id ?? ""))
        const ofState = base === undefined ? [] : yield* lost(states.secrets(base))
        const secrets = remembered(ofPlan === "lost" ? [] : (ofPlan?.inputs ?? []), ofState === "lost" ? [] : ofState)
        const result =
          ofPlan === "lost" || ofState === "lost"
            ? { ...left, outputs: left.outputs.map((output) => ({ ...output, sensitive: true })) }
            : left
        const succeeded = result.exit === "succeeded"
        const builds = yield* sql<BuildColumns>`SELECT build_digest, build_size_bytes FROM run_plans
            WHERE run_id = ${run.plan_run_id ?? ""}`
        const version =
          result.state === undefined || result.lineage === undefined || (!succeeded && !result.changedAnything)
            ? undefined
            : yield* states.insert({
                workspaceId: capsule.workspace_id,
                capsuleId: capsule.id,
                runId,
                generation: capsule.current_state_generation + 1,
                state: result.state,
                lineage: result.lineage,
                serial: result.serial ?? 0,
                resourceCount: result.resourceCount ?? 0,
                partial: !succeeded,
                sourceSnapshotId: run.source_snapshot_id ?? undefined,
                installConfigId: run.install_config_id,
                outputs: result.outputs,
                secrets,
                build: builds[0] ?? buildColumns(undefined)
              })
        const isChecked = succeeded && run.type === "apply" && (yield* hasChecks(run.install_config_id))
        const settled = capsuleColumns(run, capsule, result, version?.id)
        // Until the checks have passed nobody knows that it works.
        const columns = isChecked ? { ...settled, status: capsule.status, runtime_safety: "unknown" } : settled
        const lane = succeeded && run.type === "apply" ? yield* adopted(run) : {}
        const pin = succeeded ? yield* pinned(run, capsule, lane) : {}
        const fenced = yield* capsules.fence(capsule, { ...columns, ...lane, ...pin })
        if (!fenced)
          return yield* Effect.die(new Error(`Capsule ${capsule.id} moved inside the transaction of its apply`))
        if (succeeded && run.type === "apply") {
          const consumed =
            (yield* Effect.provideService(consumedOfPlan(run.plan_run_id ?? ""), SqlClient.SqlClient, sql)) ?? []
          yield* staleReasons.applied(capsule.id, { consumed })
        }
        if (succeeded && run.type === "destroy_apply") yield* staleReasons.destroyed(capsule.id)
        yield* staleReasons.producerMoved(capsule.id)
        // Which lanes are in use may have changed with what is deployed.
        if (succeeded) yield* lanes.settleStatus(capsule.source_id)
        if (version !== undefined)
          yield* runs.supersedePlans(capsule.id, "The state has moved on.", run.plan_run_id ?? undefined)
        yield* sql`DELETE FROM run_plans WHERE run_id = ${run.plan_run_id ?? ""}`
        yield* result.rejectedState === undefined
          ? checkpoints.drop(runId)
          : checkpoints.save(hold, capsule.workspace_id, result.rejectedState)
        yield* runs.record(hold, {
          provider_apply_succeeded: succeeded ? 1 : 0,
          ...(version === undefined ? {} : { state_version_id: version.id })
        })
        const current = version?.id ?? capsule.current_state_version_id ?? undefined
        const notes = succeeded ? yield* hosted(run, capsule, current) : []
        const diagnostics = [...(result.evidence.diagnostics ?? []), ...notes]
        const evidence = { ...result.evidence, diagnostics, possiblyCreated: result.possiblyCreated }
        if (isChecked) {
          yield* runs.mergeEvidence(hold, evidence)
          return true
        }
        yield* ended(hold, result, evidence, version === undefined ? {} : { stateVersionId: version.id })
        return false
      }, transaction(sql))

      const hasChecks = (installConfigId: string) =>
        Effect.map(
          configs.load(installConfigId),
          (config) => (config?.config.operator?.lifecycle?.postApply.length ?? 0) > 0
        )

      const conclude = yield* makeConclusion

      // Nothing about a comparison keeps what an apply has done from being recorded; without one the module counts as touched.
      const compared = (runId: string) =>
        prepareFilter(runId).pipe(
          Effect.catchCause((cause) => Effect.logError(`The commits of ${runId} could not be compared`, cause))
        )
      const settle = (hold: RunHold, left: ApplyResult) => Effect.andThen(compared(hold.runId), commit(hold, left))

      return ApplySettlement.of({ settle, conclude })
    })
  )
}
