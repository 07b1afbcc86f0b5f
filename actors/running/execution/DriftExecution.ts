import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { DriftJob } from "../../../runner/execution/RunJob.ts"
import type { RunControl as PlaceControl } from "../../../runner/execution/RunPlace.ts"
import type { DriftOutcome } from "../../../runner/execution/RunOutcome.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { DriftSettlement } from "./DriftSettlement.ts"
import { endRun } from "./RunEnding.ts"
import { blocked, type RunBlocked, type RunSteps } from "./RunSteps.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { storedBuild } from "../../ledger/build/BuildColumns.ts"
import type { HoldLost } from "../../ledger/run/RunHold.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { preparedDriftCheckSchema } from "./PreparationSchemas.ts"
import { makePreparationRecord } from "./PreparationRecord.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"
import { makeRunVariables } from "./RunVariables.ts"

/** Finds the source build of the last apply. A drift check uses the inputs of the state, so it needs no new build. */
export const makeAppliedBuild = Effect.gen(function* () {
  const builds = yield* BuildStore
  return Effect.fnUntraced(function* ({ base, evidence }: PreparedRun) {
    const stored = base === undefined ? undefined : storedBuild(base)
    if (stored === undefined) return undefined
    if (Option.isSome(yield* builds.find(stored))) return stored
    const message = "What the source build of the last apply made is gone. Plan and apply the Capsule again."
    return yield* blocked("build_missing", message, evidence)
  })
})

/** Prepares a drift check, which compares a Capsule's state with the real objects. */
const makeDriftPreparation = Effect.gen(function* () {
  const preparation = yield* RunPreparation
  const variablesOf = yield* makeRunVariables
  const buildOf = yield* makeAppliedBuild
  const record = yield* makePreparationRecord

  return Effect.fn("Run.prepareDriftCheck")(function* (run: RunRow): Effect.fn.Return<DriftJob, RunBlocked | HoldLost> {
    const prepared = yield* preparation.prepare(run)
    const { values: variables } = yield* variablesOf(run, prepared)
    const build = yield* buildOf(prepared)
    const { capsule, evidence, job } = prepared
    yield* record(run, { requirements: job.demands }, preparedDriftCheckSchema, { evidence })
    return {
      ...job,
      variables,
      ...(capsule.provider_lock === null ? {} : { lockText: capsule.provider_lock }),
      ...(build === undefined ? {} : { build })
    }
  })
})

/** Runs a drift check and records the result on the Capsule. A drift check changes nothing and never waits for approval. */
export const makeDriftSteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* DriftSettlement
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  const steps: RunSteps<DriftJob, DriftOutcome> = {
    prepare: yield* makeDriftPreparation,
    execute: (job: DriftJob, control: PlaceControl) =>
      Effect.tapError(runner.driftCheck(job, control), ({ message }) => control.sink.log("prepare", "system", message)),
    settle: settlement.settle,
    refuse: (run, { code, message }) => transaction(sql)(endRun(ending, run, { code, message }))
  }
  return steps
})
