import { Context, Effect, Layer, Option, Path, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { LeftOver, StateOutput } from "../../runner/execution/RunOutcome.ts"
import { ApplySettlement } from "../capsule/ApplySettlement.ts"
import { transaction } from "../database/Transaction.ts"
import { runFolderName } from "./RunAttempt.ts"
import { RunCheckpoints } from "./RunCheckpoints.ts"
import { failRun } from "./RunEnding.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLedger } from "./RunLedger.ts"
import { RunPlans } from "./RunPlans.ts"
import type { RunRow } from "./RunRow.ts"
import { RunSettings } from "./RunSettings.ts"

interface RunError {
  readonly code: string
  readonly message: string
}

/** As much of a state file as can be read without the tool. */
const StateFile = Schema.fromJsonString(
  Schema.Struct({
    lineage: Schema.String,
    serial: Schema.Int,
    outputs: Schema.optionalKey(
      Schema.Record(
        Schema.String,
        Schema.Struct({ value: Schema.Json, type: Schema.Json, sensitive: Schema.optionalKey(Schema.Boolean) })
      )
    ),
    resources: Schema.optionalKey(
      Schema.Array(Schema.Struct({ instances: Schema.optionalKey(Schema.Array(Schema.Json)) }))
    )
  })
)
const decodeState = Schema.decodeUnknownEffect(StateFile)

const readState = Effect.fnUntraced(function* (state: Redacted.Redacted<Uint8Array>) {
  const parsed = yield* decodeState(new TextDecoder().decode(Redacted.value(state)))
  const outputs: ReadonlyArray<StateOutput> = Object.entries(parsed.outputs ?? {}).map(([name, output]) => ({
    name,
    type: output.type,
    value: Redacted.make(output.value),
    sensitive: output.sensitive ?? false
  }))
  const resourceCount = (parsed.resources ?? []).reduce((sum, resource) => sum + (resource.instances?.length ?? 0), 0)
  return { lineage: parsed.lineage, serial: parsed.serial, outputs, resourceCount }
})

/** Only a checkpoint is left: something was changed, and nobody knows what else. */
const unknown: LeftOver = { started: [], completed: [], possiblyCreated: [], changedAnything: true }

/** A folder that cannot be read may hold anything. */
const unreadable: LeftOver = { ...unknown, stateProblem: "unreadable" }

/**
 * Ends an apply whose execution is over without a result (design section 5): it is never run again, its left-over state
 * is imported as partial, and what it may have created is listed.
 */
export class ApplyRecovery extends Context.Service<
  ApplyRecovery,
  {
    /**
     * Settles a running apply from its run folder, else its last checkpoint. `untouched` is told when the tool was never
     * started, `interrupted` otherwise. Answers `false` when the folder could not be read and has to be kept.
     */
    readonly settle: (
      run: RunRow,
      errors: { readonly untouched: RunError; readonly interrupted: RunError }
    ) => Effect.Effect<boolean>
  }
>()("svc/actors/run/ApplyRecovery") {
  static readonly layer = Layer.effect(
    ApplyRecovery,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const handover = yield* RunHandover
      const plans = yield* RunPlans
      const checkpoints = yield* RunCheckpoints
      const settlement = yield* ApplySettlement
      const runner = yield* ModuleRunner
      const settings = yield* RunSettings
      const path = yield* Path.Path

      const leftIn = (run: RunRow) =>
        runner.recover(path.join(settings.runsFolder, runFolderName(run))).pipe(
          Effect.map((left) => ({ left, isReadable: true })),
          Effect.catch((error) =>
            Effect.as(Effect.logError("The run folder of an apply could not be read", error), {
              left: Option.some(unreadable),
              isReadable: false
            })
          )
        )

      const settle = Effect.fn("ApplyRecovery.settle")(function* (
        run: RunRow,
        errors: { readonly untouched: RunError; readonly interrupted: RunError }
      ) {
        const { isReadable, left } = yield* leftIn(run)
        const checkpoint = yield* checkpoints.load(run.workspace_id, run.id)
        if (Option.isNone(left) && Option.isNone(checkpoint)) {
          yield* transaction(sql)(
            Effect.andThen(plans.drop(run.plan_run_id ?? ""), failRun({ ledger, handover }, run, errors.untouched))
          )
          return isReadable
        }
        const found = Option.getOrElse(left, () => unknown)
        const state = found.state ?? Option.getOrUndefined(checkpoint)
        const read = state === undefined ? Option.none() : yield* Effect.option(readState(state))
        const known = Option.getOrUndefined(read)
        yield* settlement.settle(run.id, {
          exit: "killed",
          state,
          stateProblem: found.stateProblem,
          rejectedState: found.rejectedState,
          lineage: known?.lineage ?? found.lineage,
          serial: known?.serial ?? found.serial,
          resourceCount: known?.resourceCount ?? found.resourceCount,
          outputs: known?.outputs ?? [],
          changedAnything: found.changedAnything || found.possiblyCreated.length > 0,
          possiblyCreated: found.possiblyCreated,
          sandboxKilled: true,
          evidence: {},
          error: errors.interrupted
        })
        return isReadable
      })

      return ApplyRecovery.of({ settle })
    })
  )
}
