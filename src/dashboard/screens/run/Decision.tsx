import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { isPlan } from "../../../../schema/records/RunLifecycle.ts"
import { runApprovalsQuery } from "../../api/ApprovalQueries.ts"
import { runsQuery } from "../../api/Queries.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { ApprovalStanding } from "./ApprovalStanding.tsx"
import { ApproveDialog, decideWords, losesOf } from "./ApproveDialog.tsx"
import { CancelDialog } from "./CancelDialog.tsx"
import { Confinement } from "./Confinement.tsx"
import { PlanAgain } from "./PlanAgain.tsx"
import { Counts } from "./PlanView.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { restoreWords } from "./RestoreWords.ts"

/** The Run that applied this plan, `null` when there is none, `undefined` while unknown. */
const useApplyOf = (run: Run): Run | null | undefined => {
  const workspace = useWorkspace()
  const wanted = run.approvedAt !== undefined && run.capsuleId !== undefined
  const { data } = useInfiniteQuery({
    ...runsQuery(workspace.id, run.capsuleId === undefined ? {} : { capsuleId: run.capsuleId }),
    enabled: wanted
  })
  return data === undefined
    ? undefined
    : (data.pages.flatMap(({ runs }) => runs).find((other) => other.planRunId === run.id) ?? null)
}

const Because = ({ reason }: { readonly reason: string | undefined }) => {
  const words = useWords(decisionWords)
  return reason === undefined ? null : (
    <p>
      {words.because} {reason}
    </p>
  )
}

/** The approver's comment. */
const Comment = ({ run }: { readonly run: Run }) => {
  const words = useWords(decisionWords)
  const actorName = useActorName()
  return run.approvalComment === undefined ? null : (
    <p>
      {words.saidBy(run.approvedBy === undefined ? "svc" : actorName(run.approvedBy))} <q>{run.approvalComment}</q>
    </p>
  )
}

/** Where a person decides: stays visible while the plan is read. */
const Review = ({ run, capsule }: { readonly run: Run; readonly capsule: Capsule | undefined }) => {
  const words = useWords(decisionWords)
  const may = useMay()
  const [open, setOpen] = useState<"approve" | "discard" | undefined>(undefined)
  const lost = losesOf(run)
  const standing = useQuery(runApprovalsQuery(run.id)).data
  // An approved plan may have lost an approval, or a rule may have been added since.
  const approved = run.approvedAt !== undefined && (standing === undefined || standing.state === "approved")
  const own = standing?.own.status
  const canApprove = approved || standing === undefined || standing.rules.length === 0 || own === "counts"
  const isRestore = run.type === "restore"
  const restores = useWords(restoreWords)
  const empty = run.planSummary !== undefined && Object.values(run.planSummary).every((count) => count === 0)
  return (
    <div className={`decision${lost > 0 ? " decision-danger" : ""}`} data-testid="decision">
      <div className="decision-text">
        <h2>{approved ? words.approvedTitle : isRestore ? restores.reviewTitle : words.reviewTitle}</h2>
        <div className="decision-sum">
          {run.planSummary === undefined || empty ? null : <Counts summary={run.planSummary} />}
          <p>
            {approved
              ? isRestore
                ? restores.approvedText
                : words.approvedText
              : isRestore
                ? restores.reviewText
                : lost > 0
                  ? words.reviewLosses(lost)
                  : empty
                    ? words.reviewNoChanges
                    : words.reviewSafe}
          </p>
        </div>
        {standing === undefined ? null : <ApprovalStanding standing={standing} />}
        <Comment run={run} />
        <Confinement run={run} />
        {run.expiresAt === undefined || approved ? null : (
          <p className="muted">
            {words.expires} <Time at={run.expiresAt} />
          </p>
        )}
      </div>
      {may("admin") || own === "counts" ? (
        <div className="decision-actions">
          <Button
            tone={lost > 0 ? "danger" : "primary"}
            icon="check"
            disabled={!canApprove}
            onClick={() => setOpen("approve")}
          >
            {decideWords(run, approved, words, restores)}
          </Button>
          <Button onClick={() => setOpen("discard")}>{approved ? words.withdraw : words.discard}</Button>
        </div>
      ) : (
        <div className="decision-actions">
          <p className="muted">{words.needsAdmin}</p>
          {may("member") ? (
            <Button onClick={() => setOpen("discard")}>{approved ? words.withdraw : words.discard}</Button>
          ) : null}
        </div>
      )}
      {open === "approve" ? (
        <ApproveDialog
          run={run}
          name={capsule?.name ?? run.id}
          environment={capsule?.environment}
          approved={approved}
          isRuled={(standing?.rules.length ?? 0) > 0}
          onClose={() => setOpen(undefined)}
        />
      ) : null}
      {open === "discard" ? <CancelDialog run={run} onClose={() => setOpen(undefined)} /> : null}
    </div>
  )
}

const waitsFor = (words: typeof decisionWords.en, place: NonNullable<Run["queue"]>): string => {
  const pool = place.pool === "builds" ? words.queueBuilds : words.queueRuns
  switch (place.reason) {
    case "capsule_busy":
      return words.queueCapsule(place.position - 1)
    case "workspace_limit":
      return words.queueWorkspaceLimit(place.limit ?? 0, pool)
    case "places_taken":
      return words.queuePlacesTaken(place.limit ?? 0, pool)
    case "place_kept":
      return words.queuePlaceKept
    case "turn":
      return words.queueTurn
  }
}

const Queue = ({ run }: { readonly run: Run }) => {
  const words = useWords(decisionWords)
  const workspace = useWorkspace()
  const place = run.queue
  const holder = place?.heldByRunId
  return (
    <Notice tone="info" title={words.queueTitle}>
      {place === undefined ? null : (
        <p>
          {waitsFor(words, place)}
          {place.reason === "capsule_busy" ? null : ` ${words.queuePosition(place.position)}`}
        </p>
      )}
      {holder === undefined ? null : (
        <p>
          {words.queueHolder}{" "}
          <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: holder }}>
            {words.openHolder}
          </Link>
        </p>
      )}
    </Notice>
  )
}

/** A new plan to replace a void one. */
const Again = ({ run, capsule }: { readonly run: Run; readonly capsule: Capsule | undefined }) =>
  capsule === undefined ? null : (
    <PlanAgain
      capsule={capsule}
      destroy={run.type === "destroy_plan"}
      tone="plain"
      revisionPlanId={run.revisionPlanId}
    />
  )

/** What a reader of this Run can or must do now, if anything. */
export const Decision = ({
  run,
  capsule,
  cancelling,
  endReason
}: {
  readonly run: Run
  readonly capsule: Capsule | undefined
  readonly cancelling: boolean
  /** Why the Run was superseded or cancelled, as far as its events say. */
  readonly endReason: string | undefined
}) => {
  const words = useWords(decisionWords)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const apply = useApplyOf(run)
  const restores = useWords(restoreWords)
  const isReviewed = isPlan(run.type)
  if (run.status === "queued") return <Queue run={run} />
  if (run.status === "running") return cancelling ? <Notice tone="warn">{words.cancelRequested}</Notice> : null
  if (run.status === "waiting_approval") return <Review run={run} capsule={capsule} />
  if (run.status === "superseded" || run.status === "expired") {
    return (
      <Notice tone="info">
        <p>{run.status === "superseded" ? words.superseded : words.expired}</p>
        <Because reason={endReason} />
        {isReviewed && run.type !== "restore" ? <Again run={run} capsule={capsule} /> : null}
      </Notice>
    )
  }
  if (isReviewed && run.status === "cancelled" && run.approvedAt !== undefined) {
    return (
      <Notice tone="info">
        <p>{words.withdrawn}</p>
        <Because reason={endReason} />
        <Comment run={run} />
        {run.type === "restore" ? null : <Again run={run} capsule={capsule} />}
      </Notice>
    )
  }
  if (!isReviewed || run.status !== "succeeded" || run.approvedAt === undefined) return null
  if (apply === null) return <Review run={run} capsule={capsule} />
  return (
    <Notice tone="good">
      <p>
        {words.approvedBy} {run.approvedBy === undefined ? "svc" : actorName(run.approvedBy)}{" "}
        <Time at={run.approvedAt} />
      </p>
      <Comment run={run} />
      {apply === undefined ? null : (
        <LinkButton small to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: apply.id }}>
          {run.type === "restore" ? restores.opened : words.openApply}
        </LinkButton>
      )}
    </Notice>
  )
}
