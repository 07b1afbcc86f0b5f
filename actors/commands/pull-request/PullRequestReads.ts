import { Context, Effect, Layer, Schema } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, ProjectId, type PullRequestId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { CapsuleVerdict, PullRequest, PullRequestCapsule } from "../../../schema/records/PullRequest.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { rowShape } from "../../base/database/Table.ts"
import { verdictOfQueued } from "../../ledger/pull-request-report/ReportedState.ts"
import { PullRequests } from "../../ledger/pull-request/PullRequests.ts"
import { awaitedApprovals } from "../../ledger/run/RunNotices.ts"
import { CarryOver } from "../../running/carry-over/CarryOver.ts"

const Place = rowShape({ workspace_id: WorkspaceId, project_id: Schema.NullOr(ProjectId), environment: Schema.String })

const counted = (capsules: ReadonlyArray<PullRequestCapsule>): NonNullable<PullRequest["counts"]> => {
  const counts: Partial<Record<CapsuleVerdict, number>> = {}
  for (const { verdict } of capsules) if (verdict !== undefined) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}

/**
 * Reads one pull request. For a commit that a merge queue tests, compares each plan with the approved changes of its group, so that
 * the response has the same verdicts as the status at the forge. The comparison may read archives of snapshots.
 */
export class PullRequestReads extends Context.Service<
  PullRequestReads,
  { readonly read: (id: PullRequestId) => Effect.Effect<PullRequest, ApiError> }
>()("svc/actors/commands/pull-request/PullRequestReads") {
  static readonly layer = Layer.effect(
    PullRequestReads,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const pullRequests = yield* PullRequests
      const carryOver = yield* CarryOver

      const awaitedBy = Effect.fnUntraced(function* (id: CapsuleId) {
        const [place] = yield* Place.rows(
          sql
        )`SELECT workspace_id, project_id, environment FROM capsules WHERE id = ${id}`
        return place === undefined ? [] : yield* awaitedApprovals(sql, place)
      }, Effect.orDie)

      const queued = Effect.fnUntraced(function* (capsule: PullRequestCapsule, group: ReadonlyArray<number>) {
        const { awaits: _, ...rest } = capsule
        // Every other verdict, such as a failed plan or a plan without changes, is final.
        if (capsule.run === undefined || (capsule.verdict !== "planned" && capsule.verdict !== "approved"))
          return capsule
        const { kind } = yield* carryOver.ofQueued(capsule.run.id, group)
        const verdict = verdictOfQueued[kind]
        return kind === "approved"
          ? { ...rest, verdict }
          : { ...rest, verdict, awaits: yield* awaitedBy(capsule.capsuleId) }
      })

      return PullRequestReads.of({
        read: Effect.fn("PullRequestReads.read")(function* (id) {
          const one = yield* pullRequests.read(id)
          const { mergeGroup } = one
          if (one.capsules === undefined || mergeGroup === undefined) return one
          const capsules = yield* Effect.forEach(one.capsules, (capsule) => queued(capsule, mergeGroup))
          return { ...one, capsules, counts: counted(capsules) }
        })
      })
    })
  ).pipe(Layer.provide(CarryOver.layer))
}
