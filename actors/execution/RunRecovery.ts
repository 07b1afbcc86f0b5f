import { Context, Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import { OperatorSuccession } from "../succession/OperatorSuccession.ts"
import { transaction } from "../database/Transaction.ts"
import { ApplyRecovery } from "./ApplyRecovery.ts"
import { KillPoint } from "../run/KillPoint.ts"
import { isApply, runFolderName, setAsideSuffix } from "../run/RunAttempt.ts"
import { failRun } from "./RunEnding.ts"
import { RunHandover } from "../run/RunHandover.ts"
import { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"
import { RunSettings } from "../run/RunSettings.ts"

const untouched = {
  code: "apply_interrupted",
  message: "The service ended before the tool was started; nothing was changed. Plan again."
}

const interrupted = {
  code: "apply_interrupted",
  message:
    "The service ended while this apply was running. What it had written of the state was imported; check what may have been created, then plan again."
}

/**
 * Settles what an earlier process left running (design section 5): whatever changes nothing is requeued once; an apply is
 * never run again, see `ApplyRecovery`.
 */
export class RunRecovery extends Context.Service<RunRecovery, { readonly recover: Effect.Effect<void> }>()(
  "svc/actors/execution/RunRecovery"
) {
  static readonly layer = Layer.effect(
    RunRecovery,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* RunLedger
      const handover = yield* RunHandover
      const applies = yield* ApplyRecovery
      const operator = yield* OperatorSuccession
      const runner = yield* ModuleRunner
      const settings = yield* RunSettings
      const killPoint = yield* KillPoint
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

      /** Inputs and states of settled Runs are not left lying about. */
      const cleanUpFolders = Effect.fnUntraced(function* (kept: ReadonlySet<string>) {
        const names = yield* Effect.orElseSucceed(files.readDirectory(settings.runsFolder), () => [])
        for (const name of names) {
          if (name.endsWith(setAsideSuffix)) continue
          const folder = path.join(settings.runsFolder, name)
          yield* Effect.ignore(
            kept.has(name) ? files.rename(folder, `${folder}${setAsideSuffix}`) : runner.discard(folder)
          )
        }
      })

      const recover = Effect.gen(function* () {
        yield* killPoint("recovery.begun")
        yield* Effect.ignore(files.makeDirectory(settings.runsFolder, { recursive: true, mode: 0o700 }))
        yield* ledger.supersedeOutdated
        // The policy file may have been changed while nobody was there.
        yield* operator.supersedeMoved
        const running = yield* Effect.orDie(
          sql<RunRow>`SELECT * FROM runs WHERE status = 'running' ORDER BY started_at, id`
        )
        const kept = new Set<string>()
        for (const run of running) {
          if (!isApply(run.type)) yield* requeueOnce(run)
          else if (!(yield* applies.settle(run, { untouched, interrupted }))) kept.add(runFolderName(run))
          yield* killPoint("recovery.settled")
        }
        yield* killPoint("recovery.cleaning")
        yield* cleanUpFolders(kept)
        if (running.length > 0)
          yield* Effect.logInfo(`Settled ${running.length} Runs that an earlier process left running`)
      }).pipe(Effect.withSpan("RunRecovery.recover"))

      return RunRecovery.of({ recover })
    })
  )
}
