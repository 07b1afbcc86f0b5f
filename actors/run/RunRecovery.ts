import { Context, Effect, FileSystem, Layer, Option, Path, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { LeftOver, StateOutput } from "../../runner/execution/RunOutcome.ts"
import { ApplySettlement } from "../capsule/ApplySettlement.ts"
import { transaction } from "../database/Transaction.ts"
import { RunCheckpoints } from "./RunCheckpoints.ts"
import { failRun } from "./RunEnding.ts"
import { isApply, runFolderName } from "./RunExecutor.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLedger } from "./RunLedger.ts"
import type { RunRow } from "./RunRow.ts"
import { RunSettings } from "./RunSettings.ts"

const interrupted = {
  code: "apply_interrupted",
  message:
    "The service ended while this apply was running. What it had written of the state was imported; check what may have been created, then plan again."
}

/** As much of a state file as recovery reads by itself: the tool is not there to tell. */
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

/**
 * Settles what an earlier process left running (design section 5): whatever changes nothing is requeued once; an apply is
 * never run again: its left-over state is imported as partial, and what it may have created is listed.
 */
export class RunRecovery extends Context.Service<RunRecovery, { readonly recover: Effect.Effect<void> }>()(
  "svc/actors/run/RunRecovery"
) {
  static readonly layer = Layer.effect(
    RunRecovery,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const handover = yield* RunHandover
      const checkpoints = yield* RunCheckpoints
      const settlement = yield* ApplySettlement
      const runner = yield* ModuleRunner
      const settings = yield* RunSettings
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path

      const requeueOnce = (run: RunRow) =>
        transaction(sql)(
          run.attempt <= 1
            ? Effect.asVoid(
                ledger.move(run.id, {
                  from: ["running"],
                  to: "queued",
                  event: "run.queued",
                  data: { reason: "The service was restarted while the Run was running." }
                })
              )
            : failRun({ ledger, handover }, run, {
                code: "interrupted",
                message: "The service ended twice while this Run was running. Start a new one."
              })
        )

      /** What is left of an apply: its run folder, else the last checkpoint. */
      const leftOver = Effect.fnUntraced(function* (run: RunRow) {
        const folder = path.join(settings.runsFolder, runFolderName(run))
        const found = yield* runner
          .recover(folder)
          .pipe(
            Effect.catch((error) =>
              Effect.as(Effect.logError("A run folder could not be read", error), Option.none<LeftOver>())
            )
          )
        const checkpoint = yield* checkpoints.load(run.workspace_id, run.id)
        if (Option.isSome(found)) {
          const state = found.value.state ?? Option.getOrUndefined(checkpoint)
          return Option.some({ ...found.value, ...(state === undefined ? {} : { state }) })
        }
        return Option.map(
          checkpoint,
          (state): LeftOver => ({ state, started: [], completed: [], possiblyCreated: [], changedAnything: true })
        )
      })

      const recoverApply = Effect.fn("Run.recoverApply")(function* (run: RunRow) {
        const left = yield* leftOver(run)
        if (Option.isNone(left)) {
          yield* transaction(sql)(
            failRun({ ledger, handover }, run, {
              code: "apply_interrupted",
              message: "The service ended before the tool was started; nothing was changed. Plan again."
            })
          )
          return
        }
        const { state, stateProblem, rejectedState, possiblyCreated, changedAnything } = left.value
        const read = state === undefined ? Option.none() : yield* Effect.option(readState(state))
        yield* settlement.settle(run.id, {
          exit: "killed",
          state,
          stateProblem,
          rejectedState,
          lineage: Option.isSome(read) ? read.value.lineage : left.value.lineage,
          serial: Option.isSome(read) ? read.value.serial : left.value.serial,
          resourceCount: Option.isSome(read) ? read.value.resourceCount : left.value.resourceCount,
          outputs: Option.isSome(read) ? read.value.outputs : [],
          changedAnything: changedAnything || possiblyCreated.length > 0,
          possiblyCreated,
          sandboxKilled: true,
          evidence: {},
          error: interrupted
        })
      })

      /** Inputs and states of settled Runs are not left lying about. */
      const sweepFolders = Effect.gen(function* () {
        const names = yield* files.readDirectory(settings.runsFolder)
        for (const name of names) {
          yield* Effect.ignore(runner.discard(path.join(settings.runsFolder, name)))
        }
      }).pipe(Effect.ignore)

      const recover = Effect.gen(function* () {
        yield* Effect.ignore(files.makeDirectory(settings.runsFolder, { recursive: true, mode: 0o700 }))
        const running = yield* Effect.orDie(
          sql<RunRow>`SELECT * FROM runs WHERE status = 'running' ORDER BY started_at, id`
        )
        for (const run of running) yield* isApply(run.type) ? recoverApply(run) : requeueOnce(run)
        yield* sweepFolders
        if (running.length > 0)
          yield* Effect.logInfo(`Settled ${running.length} Runs that an earlier process left running`)
      }).pipe(Effect.withSpan("RunRecovery.recover"))

      return RunRecovery.of({ recover })
    })
  )
}
