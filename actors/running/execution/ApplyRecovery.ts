import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readState } from "../../../runner/document/Documents.ts"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import { stillSuspected } from "../../../runner/execution/ApplyJournal.ts"
import type { FoundUnfinishedApply } from "../../../runner/execution/RunFolders.ts"
import type { UnfinishedApply } from "../../../runner/execution/RunOutcome.ts"
import type { StateFile } from "../../../runner/execution/StateFile.ts"
import { comparedAddress } from "../../../runner/redaction/InstanceKeys.ts"
import { allPrivate } from "./ApplyResult.ts"
import { ApplySettlement } from "./ApplySettlement.ts"
import { lifecycleAfter } from "./ApplyConclusion.ts"
import { preparedApplySchema } from "./PreparationSchemas.ts"
import { InstallConfigStore } from "../../ledger/configuration/InstallConfigStore.ts"
import { interruptedChecks } from "./PostApplyChecks.ts"
import { identifyReceivedState } from "../../ledger/state/ReceivedState.ts"
import { StateIndex } from "../../ledger/state/StateIndex.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { CredentialsInUse } from "../../inputs/connection/CredentialsInUse.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { integrityFault, orOnIntegrityFault } from "../../base/vault/IntegrityFault.ts"
import { RunCheckpoints } from "../../ledger/state/RunCheckpoints.ts"
import { failRun } from "./RunEnding.ts"
import { RunHandover } from "./RunHandover.ts"
import { type HoldLost, holdOf } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { type RunError, RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { RunPreparations } from "../../ledger/run/RunPreparations.ts"
import { RunPlans } from "./RunPlans.ts"
import { type RunRow, toRun } from "../../ledger/run/RunRow.ts"

/** Used if nothing was recorded, because in that case anything may have changed. */
const unknown: UnfinishedApply = { started: [], completed: [], possiblyCreated: [], changedAnything: true }

/** Converts the findings of recovery to the settlement's input. An unreadable folder may have contained anything. */
const unfinishedApplyOf = (found: FoundUnfinishedApply): UnfinishedApply | undefined => {
  switch (found.kind) {
    case "nothing":
      return undefined
    case "left":
      return found.left
    case "unreadable":
      return { ...unknown, stateProblem: "unreadable" }
  }
}

/**
 * Settles an apply whose execution ended without a result (design, section 5). svc never repeats the apply. It commits the
 * left-over state as partial, and lists the objects that the apply may have created.
 */
export class ApplyRecovery extends Context.Service<
  ApplyRecovery,
  {
    /**
     * Settles a running apply on behalf of its owner from the data that the execution left behind or, if there is none, from
     * the last checkpoint. The error is `untouched` if the tool never started, and `interrupted` otherwise.
     */
    readonly settle: (
      run: RunRow,
      left: FoundUnfinishedApply,
      errors: { readonly untouched: RunError; readonly interrupted: RunError }
    ) => Effect.Effect<void, HoldLost>
  }
>()("svc/actors/running/execution/ApplyRecovery") {
  static readonly layer = Layer.effect(
    ApplyRecovery,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const lifecycle = yield* RunLifecycle
      const handover = yield* RunHandover
      const plans = yield* RunPlans
      const held = yield* CredentialsInUse
      const checkpoints = yield* RunCheckpoints
      const settlement = yield* ApplySettlement
      const runner = yield* ModuleRunner
      const states = yield* StateVersions
      const index = yield* StateIndex
      const configs = yield* InstallConfigStore
      const preparations = yield* RunPreparations

      /**
       * Relies only on the database, because a run folder can be lost. The phase, or the response to an agent, is stored in
       * the database before the tool starts.
       */
      const mayHaveStarted = (run: RunRow) =>
        run.start_acknowledged_at !== null
          ? Effect.succeed(true)
          : sql`SELECT 1 AS one FROM run_events WHERE run_id = ${run.id} AND kind = 'run.phase'
          AND json_extract(data, '$.phase') = 'apply' LIMIT 1`.pipe(
              Effect.map((rows) => rows.length > 0),
              Effect.orDie
            )

      /**
       * Lists each planned creation that appears neither in the state nor in the tool's reports, because the tool may have
       * started more than it reported.
       */
      const suspected = Effect.fnUntraced(function* (run: RunRow, left: UnfinishedApply, state: StateFile | undefined) {
        const plan = yield* ledger.find(run.plan_run_id)
        const changes = plan === undefined ? [] : (toRun(plan).resourceChanges ?? [])
        const accounted = new Set([...left.started, ...left.completed].map(({ address }) => address))
        const addressKey = run.capsule_id === null ? undefined : yield* index.addressKey(run.capsule_id)
        // Secret instance keys are hidden in a plan but not in a state.
        const form = (address: string) => (addressKey === undefined ? address : comparedAddress(addressKey, address))
        const inState = new Set((state?.managed ?? []).map(({ address }) => form(address)))
        const untold = changes.filter(
          ({ actions, address }) =>
            actions.includes("create") &&
            !accounted.has(address) &&
            // A replaced resource is in the state before and after the apply, so its presence proves nothing.
            !(actions.length === 1 && inState.has(form(address)))
        )
        // Repeats the comparison with the key that hides addresses. The runner had no key when it read the journal, so it
        // could not compare hidden addresses with the state.
        const reported = addressKey === undefined ? left.possiblyCreated : stillSuspected(left, state, addressKey)
        return [...new Set([...reported, ...untold.map(({ address }) => address)])]
      })

      /**
       * Returns the secrets of the Run: from its plan, its base state and the current values of its Connections. Returns
       * `undefined` if some of them are unknown.
       */
      const secretsOf = Effect.fnUntraced(function* (run: RunRow) {
        const plan = yield* plans.secrets(run.workspace_id, run.plan_run_id)
        if (plan === undefined || !plan.isComplete || (yield* held.holdsUnknown(run.id))) return undefined
        const base = yield* states.find(run.base_state_version_id)
        return [
          ...plan.inputs,
          ...plan.credentials,
          ...plan.marked,
          ...(base === undefined ? [] : yield* states.secrets(base)),
          ...(yield* held.renewedSince(run.id))
        ]
      })

      const settle = Effect.fn("ApplyRecovery.settle")(function* (
        run: RunRow,
        leftOver: FoundUnfinishedApply,
        errors: { readonly untouched: RunError; readonly interrupted: RunError }
      ) {
        const hold = holdOf(run)
        const prepared = Option.getOrUndefined(yield* preparations.load(hold, preparedApplySchema))
        // The apply's state is already committed. Only the post-apply checks were interrupted, and svc does not repeat them.
        const now = yield* ledger.find(run.id)
        if (now?.provider_apply_succeeded === 1) {
          return yield* settlement.conclude(hold, interruptedChecks(yield* lifecycleAfter(configs, run, prepared)))
        }
        const left = unfinishedApplyOf(leftOver)
        // A state that cannot be decrypted must not prevent svc from starting, so the apply is settled without it.
        const { checkpoint, isSound } = yield* checkpoints.load(run.workspace_id, run.id).pipe(
          Effect.map((checkpoint) => ({ checkpoint, isSound: true })),
          orOnIntegrityFault(() => Effect.succeed({ checkpoint: Option.none(), isSound: false }))
        )
        if (isSound && left === undefined && Option.isNone(checkpoint) && !(yield* mayHaveStarted(run))) {
          return yield* transaction(sql)(
            Effect.andThen(
              plans.drop(run.plan_run_id),
              failRun({ lifecycle, handover }, run, errors.untouched, prepared?.evidence)
            )
          )
        }
        const found = left ?? unknown
        // If a state does not continue the base state, it is not adopted but is kept for a person to examine.
        const saved =
          found.state !== undefined
            ? {}
            : yield* identifyReceivedState(
                Option.getOrUndefined(checkpoint),
                yield* states.find(run.base_state_version_id)
              )
        const state = found.state ?? saved.state
        const read = state === undefined ? Option.none() : yield* readState(Redacted.value(state))
        const known = Option.getOrUndefined(read)
        const possiblyCreated = yield* suspected(run, found, known)
        const secrets = yield* secretsOf(run).pipe(orOnIntegrityFault(() => Effect.undefined))
        const outputs =
          secrets === undefined
            ? // With an unknown secret, no Output counts as public.
              allPrivate(known?.outputs ?? [])
            : yield* runner.withhold(known?.outputs ?? [], secrets)
        yield* settlement.commit(hold, {
          exit: "killed",
          state,
          stateProblem:
            found.stateProblem ?? saved.stateProblem ?? (isSound || state !== undefined ? undefined : "unreadable"),
          rejectedState: found.rejectedState,
          lineage: known?.lineage ?? saved.lineage ?? found.lineage,
          serial: known?.serial ?? saved.serial ?? found.serial,
          resourceCount: known?.resourceCount ?? saved.resourceCount ?? found.resourceCount,
          outputs,
          // A saved state always differs from the base state, so it proves that something changed.
          changedAnything: found.changedAnything || possiblyCreated.length > 0 || saved.state !== undefined,
          possiblyCreated,
          sandboxKilled: true,
          evidence: {},
          error: isSound ? errors.interrupted : integrityFault
        })
      })

      return ApplyRecovery.of({ settle })
    })
  )
}
