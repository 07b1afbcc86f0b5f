import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { PlanJob } from "../../../runner/execution/RunJob.ts"
import type { PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { RunHandover } from "./RunHandover.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { makeAppliedBuild } from "./DriftExecution.ts"
import { PlanSettlement } from "./PlanSettlement.ts"
import { endRun, supersedeRun } from "./RunEnding.ts"
import type { RunBlocked, RunSteps } from "./RunSteps.ts"
import { ignoredValues } from "../../../schema/records/CompatibilityReport.ts"
import type { RunDiagnostic } from "../../../schema/records/Run.ts"
import { plannedSignIn } from "../../inputs/delivery/RunDeliveries.ts"
import type { HoldLost } from "../../ledger/run/RunHold.ts"
import { acceptsDrift, isSpeculative, type RunRow } from "../../ledger/run/RunRow.ts"
import { RunSettings } from "../../ledger/run/RunSettings.ts"
import { SourceStore, toReport } from "../../ledger/source/SourceStore.ts"
import { makeRemoteRevisions } from "../../inputs/git/RemoteRevisions.ts"
import { preparedPlanSchema } from "./PreparationSchemas.ts"
import { makePreparationRecord } from "./PreparationRecord.ts"
import { type PreparedRun, RunPreparation } from "./RunPreparation.ts"
import { makeRunVariables } from "./RunVariables.ts"

/** Prepares a plan, a destroy plan or a plan that accepts drift under the current authority. */
const makePlanPreparation = Effect.gen(function* () {
  const preparation = yield* RunPreparation
  const variablesOf = yield* makeRunVariables
  const settings = yield* RunSettings
  const record = yield* makePreparationRecord
  const appliedBuild = yield* makeAppliedBuild
  const vault = yield* Vault
  const sources = yield* SourceStore
  const revisions = yield* makeRemoteRevisions

  /** Reads the authors of all commits between the lane and the speculative plan's head. */
  const authorsOf = Effect.fnUntraced(function* (run: RunRow, { capsule, evidence, snapshot }: PreparedRun) {
    if (snapshot.ref === capsule.tracked_ref) return []
    const source = yield* sources.find(capsule.source_id)
    const { base } = evidence
    if (source === undefined || base === undefined) return undefined
    const commits = { base: base.resolvedCommit, commit: snapshot.resolved_commit }
    return yield* revisions.authors(source, run, base.ref, commits)
  })

  return Effect.fn("Run.preparePlan")(function* (run: RunRow): Effect.fn.Return<PlanJob, RunBlocked | HoldLost> {
    const prepared = yield* preparation.prepare(run)
    const { capsule, config, job, place, report } = prepared
    const { consumed, planned, values } = yield* variablesOf(run, prepared)
    const destroy = run.type === "destroy_plan"
    const refreshOnly = run.purpose === acceptsDrift
    const signIn = destroy || refreshOnly ? undefined : plannedSignIn(planned.resolved)
    const warnings = ignoredValues(toReport(report).findings).map(
      ({ message, path }): RunDiagnostic => ({
        severity: "warning",
        summary: "A file with values in the repository is not used.",
        detail: message,
        ...(path === undefined ? {} : { path })
      })
    )
    const evidence = {
      ...prepared.evidence,
      ...(signIn === undefined ? {} : { signIn }),
      ...(warnings.length === 0 ? {} : { diagnostics: warnings })
    }
    const commitAuthors = isSpeculative(run) ? yield* authorsOf(run, prepared) : undefined
    yield* record(run, { requirements: job.demands, shown: evidence }, preparedPlanSchema, {
      reportId: report.id,
      evidence,
      place: { url: place.url, path: place.path },
      consumed,
      deliveries: planned.resolved,
      ...(commitAuthors === undefined ? {} : { commitAuthors })
    })
    const lock = capsule.provider_lock === null ? {} : { lockText: capsule.provider_lock }
    const changeKey = Redacted.make(yield* vault.mac("change-digest-of-runner", capsule.id))
    if (refreshOnly) {
      const applied = yield* appliedBuild(prepared)
      const build = applied === undefined ? {} : { build: applied }
      return { ...job, mode: "refresh_only", changeKey, variables: values, ...lock, ...build }
    }
    const build = config.config.sourceBuild
    return {
      ...job,
      mode: destroy ? "destroy" : "create_or_update",
      changeKey,
      variables: values,
      ...(destroy ? lock : {}),
      ...(build === undefined ? {} : { sourceBuild: { ...build, network: settings.buildNetwork } })
    }
  })
})

/** Computes a plan and seals it for review. An apply uses exactly what the approver saw. */
export const makePlanSteps = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runner = yield* ModuleRunner
  const settlement = yield* PlanSettlement
  const ending = { lifecycle: yield* RunLifecycle, handover: yield* RunHandover }

  const steps: RunSteps<PlanJob, PlanOutcome> = {
    prepare: yield* makePlanPreparation,
    execute: runner.plan,
    settle: (hold, result, { sink }) =>
      Effect.flatMap(settlement.settle(hold, result), (line) =>
        line === undefined ? Effect.void : sink.log("prepare", "system", line)
      ),
    refuse: (run, { code, evidence, message }) =>
      transaction(sql)(
        code === "superseded" ? supersedeRun(ending, run, message) : endRun(ending, run, { code, message }, evidence)
      )
  }
  return steps
})
