import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { PlanOutcome } from "../../../runner/execution/RunOutcome.ts"
import type { ModuleChange } from "../../../runner/scan/ModuleChange.ts"
import type { CarriedFrom, DiffersFrom } from "../../../schema/records/CarryOver.ts"
import type { CapsuleId, PullRequestId, RunId } from "../../../schema/records/Ids.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import { waitingWords } from "../../access/approval/ApprovalDecision.ts"
import { type ChangeApprovalRow, rulesText } from "../../access/approval/ApprovalRows.ts"
import { ChangeApprovals } from "../../access/approval/ChangeApprovals.ts"
import { carriedApproval } from "../../access/approval/PlanApproval.ts"
import type { RowOf } from "../../base/database/Table.ts"
import { providedService } from "../../base/Provided.ts"
import { ConnectionStore } from "../../inputs/connection/ConnectionStore.ts"
import { rotatedSince } from "../../inputs/connection/RotatedConnections.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { CapsuleRow, type GuardedCapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { LoadedInstallConfig } from "../../ledger/configuration/InstallConfigStore.ts"
import { movedInputs } from "../../ledger/consumption/ConsumedOutputs.ts"
import {
  type ChangeBasisRow,
  changeBasis,
  ConsumedOutputsJson,
  ProvidedMarksJson
} from "../../ledger/run/ChangeBases.ts"
import { EvidenceJson, PlanDetailsJson, RunRow } from "../../ledger/run/RunRow.ts"
import { mergeGroupOf, numberOf, PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { contentOf, PathFilters } from "../../ledger/staleness/PathFilters.ts"
import { appliesCarried, type Difference, differences, type PlanBasis } from "./CarryOverDecision.ts"
import { differingLines } from "./ChangeLines.ts"

/** Maximum number of a Capsule's approved changes that are compared with a plan. The newest changes are compared first. */
const mostChanges = 10

const ApprovedChangeRow = RunRow.without("spec", "plan_details")
type ApprovedChange = RowOf<typeof ApprovedChangeRow.columns>
const columns = Object.keys(ApprovedChangeRow.columns)
  .map((name) => `r.${name}`)
  .join(", ")

/** The parts of an approved change that must be read or computed outside a transaction. */
export type ComparedChanges = ReadonlyMap<
  RunId,
  { readonly files: ModuleChange; readonly review: Pick<DiffersFrom, "lines" | "moreLines"> }
>

/** A plan that is ready for review, with the inputs from which it was computed. */
export interface ReadyPlan {
  readonly run: RunRow
  readonly capsule: GuardedCapsuleRow
  readonly config: LoadedInstallConfig
  readonly outcome: PlanOutcome
  readonly changeDigest: string | null
  readonly evidence: RunEvidence
  readonly deliveries: ChangeBasisRow["deliveries"]
}

/** Facts about a plan for the decision, whether the plan waits for review or has ended. */
type JudgedPlan = Pick<ReadyPlan, "run" | "capsule" | "changeDigest" | "evidence"> &
  Pick<PlanBasis, "deliveries" | "provided">

/**
 * The verdict on the plan for a commit that a merge queue is testing.
 *
 * - `unapproved`: the plan makes a change that nobody has approved, or that too few people have approved (`reason`)
 * - `differs`: the plan makes a different change from the one that people approved
 */
export type QueuedVerdict =
  | { readonly kind: "approved" }
  | { readonly kind: "unapproved"; readonly reason: string | undefined }
  | { readonly kind: "differs"; readonly differsFrom: Pick<DiffersFrom, "lines" | "moreLines" | "reasons"> }

/**
 * - `none`: no approved change could match this plan. `awaitsMerge` is true if the plan differs from an approved change whose pull
 *   request is still open as far as svc knows, because svc may see the merge later.
 * - `carried`: the approvals of the same change are carried over to this plan; if `applies` is true, svc also applies the
 *   plan
 * - `differs`: an approved change differs, so the plan needs new approvals
 */
export type CarryVerdict =
  | { readonly kind: "none"; readonly awaitsMerge: boolean }
  | {
      readonly kind: "carried"
      readonly carriedFrom: CarriedFrom
      readonly approvals: ReadonlyArray<ChangeApprovalRow>
      readonly applies: boolean
    }
  | { readonly kind: "differs"; readonly differsFrom: DiffersFrom }

/** Returns digests of the credentials that an agent supplied for a plan. */
export const providedMarks = ({ secrets }: PlanOutcome): string =>
  ProvidedMarksJson.write(
    (secrets.provided ?? []).map(({ mark, name }) => ({ name, ...(mark === undefined ? {} : { mark }) }))
  )

const bindingsText = (evidence: Pick<RunEvidence, "providerResolutions">) =>
  JSON.stringify(
    (evidence.providerResolutions ?? [])
      .map(({ childAlias, connectionId, moduleLocalName, provider, use }) => [
        provider,
        moduleLocalName,
        childAlias ?? null,
        connectionId ?? null,
        use?.connectionVersion ?? null
      ])
      .toSorted()
  )

type ComparedColumns = Pick<
  RunRow,
  | "install_config_id"
  | "execution_authority_epoch"
  | "base_state_generation"
  | "profile"
  | "profile_digest"
  | "pool"
  | "network"
>

const basisOf = (
  row: ComparedColumns,
  evidence: Pick<RunEvidence, "operatorConfig" | "providerLockDigest" | "providerResolutions" | "tool">,
  rest: Pick<PlanBasis, "changeDigest" | "deliveries" | "provided">
): PlanBasis => ({
  ...rest,
  installConfigId: row.install_config_id,
  epoch: row.execution_authority_epoch,
  stateGeneration: row.base_state_generation,
  profile: row.profile,
  profileDigest: row.profile_digest,
  pool: row.pool,
  network: row.network,
  providerLockDigest: evidence.providerLockDigest,
  tool: evidence.tool,
  operatorDigest: evidence.operatorConfig?.digest,
  bindings: bindingsText(evidence)
})

/**
 * Approvals are carried over only to an ordinary plan of the lane. Rollbacks, plans of another ref and a Capsule's first
 * plan are excluded.
 */
const mayReceive = (run: Pick<RunRow, "coordinator_kind" | "purpose" | "type">) =>
  run.type === "plan" && run.purpose === null && run.coordinator_kind === null

/**
 * Carries the approvals of a change in a speculative plan over to the lane's plan if the lane's plan makes the same change
 * from the same files and inputs. Reads all facts in the transaction that settles the plan, except for the comparison of
 * module files and reviews, which `prepare` computes beforehand. A change that was not prepared is treated as different.
 */
export class CarryOver extends Context.Service<
  CarryOver,
  {
    /** Compares the plan with the approved changes of its Capsule. Call it outside a transaction. */
    readonly prepare: (runId: RunId, outcome: PlanOutcome) => Effect.Effect<ComparedChanges>
    /** Decides in the caller's transaction whether approvals are carried over. Writes nothing. */
    readonly decide: (plan: ReadyPlan, compared: ComparedChanges) => Effect.Effect<CarryVerdict>
    /**
     * Compares the successful speculative plan of a queued commit with the approved changes of the pull requests in its
     * group. The carry-over rule is ignored here, because svc carries no approvals over to a speculative plan. Call it
     * outside a transaction.
     */
    readonly ofQueued: (runId: RunId, group: ReadonlyArray<number>) => Effect.Effect<QueuedVerdict>
    /**
     * Compares a plan of the lane that svc computed before it saw the merge with the approved changes of the merged pull request.
     * Returns `undefined` if the plan need not show a difference. Call it outside a transaction.
     */
    readonly ofMerged: (runId: RunId, pullRequestId: PullRequestId) => Effect.Effect<DiffersFrom | undefined>
  }
>()("svc/actors/running/carry-over/CarryOver") {
  static readonly layer = Layer.effect(
    CarryOver,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const approvals = yield* ChangeApprovals
  const capsules = yield* CapsuleLedger
  const connections = yield* ConnectionStore
  const filters = yield* PathFilters
  const sources = yield* SourceStore
  const withSql = Effect.provideService(SqlClient.SqlClient, sql)

  const approvedChanges = Effect.fnUntraced(function* (capsuleId: CapsuleId | null) {
    return yield* ApprovedChangeRow.rows(sql)`SELECT ${sql.literal(columns)} FROM runs r
      WHERE r.capsule_id = ${capsuleId} AND r.type = 'plan' AND r.purpose = 'speculative' AND r.status = 'succeeded'
        AND EXISTS (SELECT 1 FROM change_approvals a WHERE a.run_id = r.id AND a.withdrawn_at IS NULL)
      ORDER BY r.created_at DESC, r.id DESC LIMIT ${mostChanges}`
  }, Effect.orDie)

  const comparedWith = Effect.fnUntraced(function* (
    change: ApprovedChange,
    run: RunRow,
    planned: Parameters<typeof differingLines>[1]
  ) {
    const [details] = yield* Effect.orDie(
      RunRow.some(sql, "plan_details")`SELECT plan_details FROM runs WHERE id = ${change.id}`
    )
    const { install_config_id } = run
    const [capsule] = yield* Effect.orDie(
      CapsuleRow.some(sql, "module_path")`SELECT module_path FROM capsules WHERE id = ${run.capsule_id}`
    )
    const from = yield* sources.findSnapshot(change.source_snapshot_id)
    const to = yield* sources.findSnapshot(run.source_snapshot_id)
    const files: ModuleChange =
      capsule === undefined || install_config_id === null || from === undefined || to === undefined
        ? { kind: "touched", because: "A snapshot is not stored any more" }
        : yield* filters.between({ ...capsule, install_config_id }, contentOf(from), contentOf(to))
    return { files, review: differingLines(PlanDetailsJson.read(details?.plan_details ?? "{}"), planned) }
  })

  const prepare = Effect.fn("CarryOver.prepare")(function* (runId: RunId, outcome: PlanOutcome) {
    const compared = new Map<RunId, Effect.Success<ReturnType<typeof comparedWith>>>()
    const [run] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${runId}`)
    if (run === undefined || !mayReceive(run)) return compared
    for (const change of yield* approvedChanges(run.capsule_id)) {
      const comparison = yield* comparedWith(change, run, outcome)
      compared.set(change.id, comparison)
    }
    return compared
  })

  /** Returns true if the approvals were already used for a plan that was applied or that a person discarded. */
  const isUsed = Effect.fnUntraced(function* (given: ReadonlyArray<ChangeApprovalRow>) {
    for (const { carried_to_run_id } of given) {
      if (carried_to_run_id === null) continue
      const [target] = yield* RunRow.some(sql, "status", "used_by_run_id")`SELECT status, used_by_run_id FROM runs
        WHERE id = ${carried_to_run_id}`
      if (target === undefined || target.used_by_run_id !== null) return true
      if (target.status !== "superseded" && target.status !== "expired") return true
    }
    return false
  }, Effect.orDie)

  /** Returns the pull request for which svc made the speculative plan, if any. */
  const pullRequestOf = Effect.fnUntraced(function* ({ coordinator_id, coordinator_kind }: ApprovedChange) {
    if (coordinator_kind !== "pull_request") return undefined
    const [row] = yield* PullRequestRow.some(
      sql,
      "id",
      "number",
      "state",
      "merge_group"
    )`SELECT id, number, state, merge_group
      FROM pull_requests WHERE id = ${coordinator_id}`
    return row === undefined ? undefined : { ...row, number: numberOf(row), group: mergeGroupOf(row) }
  }, Effect.orDie)

  const judged = Effect.fnUntraced(function* (change: ApprovedChange, plan: JudgedPlan, compared: ComparedChanges) {
    const { capsule, changeDigest, deliveries, evidence, provided, run } = plan
    const given = yield* approvals.live(change.id)
    const basis = yield* withSql(changeBasis(change.id))
    const before = EvidenceJson.read(change.evidence)
    const { decision, ground, rules, teamNames } = yield* withSql(carriedApproval(run, change))
    const allowed = rules.map(({ carry_over }) => carry_over)
    const found = differences({
      approved: basisOf(change, before, {
        changeDigest: change.change_digest,
        deliveries: basis?.deliveries,
        provided: basis === undefined ? undefined : ProvidedMarksJson.read(basis.provided)
      }),
      planned: basisOf(run, evidence, {
        changeDigest,
        deliveries,
        provided
      }),
      files: compared.get(change.id)?.files ?? { kind: "touched", because: "The commits were not compared" },
      movedInputs:
        basis === undefined
          ? undefined
          : yield* withSql(movedInputs(capsule, ConsumedOutputsJson.read(basis.consumed_outputs))),
      movedConnections: yield* rotatedSince(before.providerResolutions).pipe(
        Effect.provideService(ConnectionStore, connections)
      ),
      rulesNow: rulesText(rules),
      rulesThen: given.map((approval) => approval.rules),
      allowed,
      missing: given.length === 0 ? "No approval is left." : waitingWords(decision, teamNames),
      isStale: before.base?.standing === "stale",
      isUncertain: ground.length > 0 || (before.diagnostics ?? []).some(({ code }) => code !== undefined),
      isUsed: yield* isUsed(given)
    })
    const review = compared.get(change.id)?.review
    // Also compares the reviews, so that svc never carries approvals over to a change that looks different to a reviewer.
    const unseen: ReadonlyArray<Difference> =
      review === undefined
        ? [{ code: "unknown", message: "The change was approved while this plan was being settled." }]
        : review.lines.length > 0 && found.every(({ code }) => code !== "change")
          ? [{ code: "change", message: "The review of the plan shows other lines." }]
          : []
    return {
      change,
      given,
      reasons: [...found, ...unseen],
      allowed,
      review: review ?? { lines: [] },
      pullRequest: yield* pullRequestOf(change)
    }
  })
  type Judged = Effect.Success<ReturnType<typeof judged>>

  const isElsewhere = ({ pullRequest, reasons }: Judged) =>
    pullRequest?.state === "open" &&
    reasons.some(({ code }) => code === "change") &&
    reasons.some(({ code }) => code === "files")

  const isUsedUp = ({ reasons }: Judged) => reasons.some(({ code }) => code === "used")

  /**
   * Rates how close a plan is to an approved change. The review mentions the closest change, unless it has no line in common with
   * the plan or belongs to another pull request that is still open.
   */
  const closeness = (judgement: Judged) => {
    const has = (code: Difference["code"]) => judgement.reasons.some((reason) => reason.code === code)
    return isElsewhere(judgement) ? 0 : (has("change") ? 0 : 4) + (has("files") ? 0 : 2) + (has("state") ? 0 : 1)
  }

  const named = ({ pullRequest }: Judged) =>
    pullRequest === undefined ? {} : { pullRequestId: pullRequest.id, pullRequestNumber: pullRequest.number }

  /**
   * Returns the difference from the closest change. Excludes changes that no longer matter: changes whose approval was already
   * used, and different changes that were planned for an earlier state.
   */
  const closestOf = (verdicts: ReadonlyArray<Judged>): DiffersFrom | undefined => {
    const [closest] = verdicts
      .filter((each) => !isUsedUp(each) && closeness(each) > 0)
      .toSorted((a, b) => closeness(b) - closeness(a))
    if (closest === undefined) return undefined
    const { change, reasons, review } = closest
    return {
      runId: change.id,
      ...named(closest),
      ...(change.resolved_commit === null ? {} : { commit: change.resolved_commit }),
      reasons,
      ...review
    }
  }

  const decide = Effect.fn("CarryOver.decide")(function* (plan: ReadyPlan, compared: ComparedChanges) {
    const { changeDigest, run } = plan
    const changes = mayReceive(run) ? yield* approvedChanges(run.capsule_id) : []
    const judgedPlan = { ...plan, provided: ProvidedMarksJson.read(providedMarks(plan.outcome)) }
    const verdicts = yield* Effect.forEach(changes, (change) => judged(change, judgedPlan, compared))
    const equal = verdicts.find(({ reasons }) => reasons.length === 0)
    if (equal !== undefined && changeDigest !== null) {
      const { allowed, change, given } = equal
      const applies = appliesCarried(allowed)
      return {
        kind: "carried",
        approvals: given,
        applies,
        carriedFrom: {
          changeApprovalIds: given.map(({ id }) => id),
          runId: change.id,
          ...named(equal),
          planDigest: change.plan_digest ?? "",
          changeDigest,
          ...(applies ? { applies } : {})
        }
      } satisfies CarryVerdict
    }
    const differsFrom = closestOf(verdicts)
    if (differsFrom !== undefined) return { kind: "differs", differsFrom } satisfies CarryVerdict
    return {
      kind: "none",
      awaitsMerge: verdicts.some((each) => !isUsedUp(each) && isElsewhere(each))
    } satisfies CarryVerdict
  })

  const unapproved = (reason?: string): QueuedVerdict => ({ kind: "unapproved", reason })

  /** Reads a stored plan with its inputs, or returns `undefined` if its inputs are not stored. */
  const storedPlan = Effect.fnUntraced(function* (runId: RunId) {
    const [run] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${runId}`)
    const capsule = run === undefined ? undefined : yield* capsules.find(run.capsule_id)
    if (run === undefined || capsule === undefined) return undefined
    const basis = yield* withSql(changeBasis(runId))
    const plan: JudgedPlan = {
      run,
      capsule,
      changeDigest: run.change_digest,
      evidence: EvidenceJson.read(run.evidence),
      deliveries: basis?.deliveries,
      provided: basis === undefined ? undefined : ProvidedMarksJson.read(basis.provided)
    }
    const details = PlanDetailsJson.read(run.plan_details ?? "{}")
    const ofChange = Effect.fnUntraced(function* (change: ApprovedChange) {
      return yield* judged(change, plan, new Map([[change.id, yield* comparedWith(change, run, details)]]))
    })
    return { run, ofChange, hasBasis: basis !== undefined }
  })

  const ofQueued = Effect.fn("CarryOver.ofQueued")(function* (runId: RunId, group: ReadonlyArray<number>) {
    const plan = yield* storedPlan(runId)
    if (plan === undefined) return unapproved()
    const verdicts: Array<Judged> = []
    for (const change of yield* approvedChanges(plan.run.capsule_id)) {
      const verdict = yield* plan.ofChange(change)
      const { group: its = [verdict.pullRequest?.number ?? 0] } = verdict.pullRequest ?? {}
      if (its.some((number) => group.includes(number))) {
        verdicts.push({ ...verdict, reasons: verdict.reasons.filter(({ code }) => code !== "off") })
      }
    }
    const [closest] = verdicts.toSorted(
      (a, b) => Number(a.reasons.length > 0) - Number(b.reasons.length > 0) || closeness(b) - closeness(a)
    )
    if (closest === undefined) return unapproved()
    const { reasons, review } = closest
    if (reasons.length === 0) return { kind: "approved" } satisfies QueuedVerdict
    const isSame = reasons.every(({ code }) => code === "approver")
    if (isSame) return unapproved(reasons[0]?.message)
    return { kind: "differs", differsFrom: { reasons, ...review } } satisfies QueuedVerdict
  })

  const ofMerged = Effect.fn("CarryOver.ofMerged")(function* (runId: RunId, pullRequestId: PullRequestId) {
    const plan = yield* storedPlan(runId)
    // Without its inputs, the plan would seem to differ in all of them.
    if (plan === undefined || !plan.hasBasis || !mayReceive(plan.run)) return undefined
    const changes = yield* approvedChanges(plan.run.capsule_id)
    const ofPullRequest = changes.filter(({ coordinator_id }) => coordinator_id === pullRequestId)
    const verdicts = yield* Effect.forEach(ofPullRequest, plan.ofChange)
    return verdicts.some(({ reasons }) => reasons.length === 0) ? undefined : closestOf(verdicts)
  })

  return yield* providedService(CarryOver, { prepare, decide, ofQueued, ofMerged })
})
