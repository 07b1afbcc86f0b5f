import { Context, Effect, Layer } from "effect"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { ChangeCause, ChangeCauses } from "../../../schema/records/ChangeCauses.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import type { SourceChanges } from "../../../schema/records/SourceChanges.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { EvidenceJson, PlanDetailsJson, RunRow } from "../run/RunRow.ts"
import { StateVersionRow } from "../state/StateVersionRow.ts"
import { changeCauses } from "./ChangeCauseDecision.ts"
import { SourceChangeReads } from "./SourceChangeReads.ts"

interface Planned {
  readonly profileDigest: string | null
  readonly evidence: Pick<RunEvidence, "tool" | "providerLockDigest" | "operatorConfig" | "providerResolutions">
}

const plannedOf = (row: Pick<RunRow, "evidence" | "profile_digest">): Planned => ({
  profileDigest: row.profile_digest,
  evidence: EvidenceJson.read(row.evidence)
})

/** Returns the Connection bound to each provider requirement. */
const bindingsOf = ({ evidence }: Planned) =>
  JSON.stringify(
    (evidence.providerResolutions ?? [])
      .map(({ childAlias, connectionId, moduleLocalName, provider }) => [
        provider,
        moduleLocalName,
        childAlias,
        connectionId
      ])
      .toSorted()
  )

/** Returns the differences between two plans, except those in the module and its inputs. */
export const otherDifferences = (before: Planned, after: Planned): ReadonlyArray<ChangeCause> => {
  const toolOf = ({ evidence }: Planned) => JSON.stringify([evidence.tool, evidence.providerLockDigest])
  const isOperated = before.evidence.operatorConfig?.digest !== after.evidence.operatorConfig?.digest
  return [
    ...(bindingsOf(before) === bindingsOf(after) ? [] : [{ kind: "connection" } as const]),
    ...(isOperated || before.profileDigest !== after.profileDigest ? [{ kind: "operator" } as const] : []),
    ...(toolOf(before) === toolOf(after) ? [] : [{ kind: "tool" } as const])
  ]
}

/** Returns the commit as a cause, and whether its effect is unknown. */
const commitOf = (to: string | null, { fileCount, since, status }: SourceChanges) => {
  const from = since?.resolvedCommit
  if (from === undefined || to === null) return { commit: undefined, isUnknown: status === "not_stored" }
  if (status === "compared")
    return {
      commit: fileCount === 0 ? undefined : ({ kind: "commit", from, to, fileCount } as const),
      isUnknown: false
    }
  // If there is no list of changed files, only an unchanged commit is certain to have no effect.
  return from === to
    ? { commit: undefined, isUnknown: false }
    : { commit: { kind: "commit", from, to } as const, isUnknown: true }
}

/** Determines the causes of a plan's changes from the plan and the previous apply. */
export class ChangeCauseReads extends Context.Service<
  ChangeCauseReads,
  { readonly read: (id: RunId) => Effect.Effect<ChangeCauses, ApiError> }
>()("svc/actors/ledger/staleness/ChangeCauseReads") {
  static readonly layer = Layer.effect(
    ChangeCauseReads,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const sources = yield* SourceChangeReads

      const planOf = Effect.fnUntraced(function* (applyId: RunId) {
        const [plan] = yield* RunRow.some(sql, "evidence", "profile_digest")`SELECT p.evidence, p.profile_digest
          FROM runs a JOIN runs p ON p.id = a.plan_run_id WHERE a.id = ${applyId}`
        return plan === undefined ? undefined : plannedOf(plan)
      }, Effect.orDie)

      const baseOf = Effect.fnUntraced(function* (run: RunRow) {
        const [base] = yield* StateVersionRow.some(
          sql,
          "created_by_run_id",
          "partial",
          "state_upload_id"
        )`SELECT created_by_run_id, partial, state_upload_id FROM state_versions WHERE id = ${run.base_state_version_id}`
        return base
      }, Effect.orDie)

      const read = Effect.fn("ChangeCauseReads.read")(function* (
        runId: RunId
      ): Effect.fn.Return<ChangeCauses, ApiError> {
        const [run] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${runId}`)
        if (run === undefined) return yield* notFound("Run")
        const none = { runId, causes: [], unknown: [], resources: [] }
        if (run.type === "destroy_plan") return { ...none, status: "destroy" as const }
        const evidence = { ...EvidenceJson.read(run.evidence), ...PlanDetailsJson.read(run.plan_details) }
        if (run.type !== "plan" || evidence.resourceChanges === undefined)
          return { ...none, status: "not_recorded" as const }
        const base = yield* baseOf(run)
        if (base === undefined || base.state_upload_id !== null) return { ...none, status: "first" as const }
        const { commit, isUnknown } = commitOf(run.resolved_commit, yield* sources.read(runId))
        const before = yield* planOf(base.created_by_run_id)
        const isUnfinished = base.partial === 1
        return {
          runId,
          status: "compared" as const,
          ...changeCauses({
            evidence,
            commit,
            changedInputs: evidence.changedInputs,
            isUnfinished,
            others: before === undefined ? [] : otherDifferences(before, plannedOf(run)),
            unknown: [
              ...(isUnknown ? (["commit"] as const) : []),
              ...(evidence.changedInputs === undefined ? (["inputs"] as const) : [])
            ]
          })
        }
      })

      return ChangeCauseReads.of({ read })
    })
  )
}
