import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { lazy, type ReactNode, Suspense, useState } from "react"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import { runApprovalsQuery } from "../../api/ApprovalQueries.ts"
import { runsQuery } from "../../api/Queries.ts"
import { whenReachable } from "../../api/Reachability.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useLetterKeys } from "../../app/LetterKeys.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Notice, Skeleton } from "../../ui/Feedback.tsx"
import { Time, useNow } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { Comment, Review } from "./Review.tsx"
import { ApproveDialog } from "./ApproveDialog.tsx"
import { CancelDialog } from "./CancelDialog.tsx"
import { planEndOf } from "./PlanEnd.ts"
import { NewerPlan } from "./PlanEndNotice.tsx"
import { PlanAgain } from "./PlanAgain.tsx"
import { UncertainPlan } from "./UncertainGround.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { restoreWords } from "./RestoreWords.ts"

/** Returns the Run that applied this plan, `null` if no Run has applied it, and `undefined` while unknown. */
export const useApplyOf = (run: Run): Run | null | undefined => {
  const workspace = useWorkspace()
  const wanted = run.approvedAt !== undefined && run.capsuleId !== undefined
  const { data } = useInfiniteQuery({
    ...runsQuery(workspace.id, run.capsuleId === undefined ? {} : { capsuleId: run.capsuleId }),
    enabled: wanted
  })
  // Uses the same list as other components, which may have loaded it already.
  return data === undefined || !wanted
    ? undefined
    : (data.pages.flatMap(({ runs }) => runs).find((other) => other.planRunId === run.id) ?? null)
}

const Queue = lazy(whenReachable(async () => ({ default: (await import("./Queue.tsx")).Queue })))

/** Offers a new plan to replace a void plan. */
const Again = ({ run, capsule }: { readonly run: Run; readonly capsule: Capsule | undefined }) =>
  capsule === undefined ? null : (
    <PlanAgain
      capsule={capsule}
      destroy={run.type === "destroy_plan"}
      tone="plain"
      purpose={run.purpose}
      revisionPlanId={run.revisionPlanId}
    />
  )

interface DecisionProps {
  readonly run: Run
  readonly capsule: Capsule | undefined
  readonly cancelling: boolean
  /** The reason why the Run was superseded or cancelled, if its events contain it. */
  readonly endReason: string | undefined
}

interface DecidedProps {
  readonly what: string
  readonly decision: Pick<NonNullable<Run["cancelRequest"]>, "at" | "reason" | "subject">
}

/** Shows a decision about a Run: who made it, when and why. */
const Decided = ({ decision, what }: DecidedProps) => {
  const words = useWords(decisionWords)
  const actorName = useActorName()
  const { at, reason, subject } = decision
  return (
    <>
      <p data-testid="run-decision">
        {words.decidedBy(what, subject === undefined ? "svc" : actorName(subject))} <Time at={at} />
      </p>
      {reason === undefined ? null : (
        <p>
          {words.because} <q>{reason}</q>
        </p>
      )}
    </>
  )
}

/**
 * The person who ended a Run before it was finished. For Runs from earlier releases, only the reason is known, from their
 * events.
 */
const Ended = ({ reason, run }: { readonly run: Run; readonly reason: string | undefined }) => {
  const words = useWords(decisionWords)
  if (run.endedBy !== undefined) return <Decided what={words.ends[run.endedBy.kind]} decision={run.endedBy} />
  return reason === undefined ? null : (
    <p>
      {words.because} {reason}
    </p>
  )
}

/** The action that the Run's status requires from the person. */
const Content = ({
  run,
  capsule,
  cancelling,
  endReason,
  apply,
  review
}: DecisionProps & { readonly apply: Run | null | undefined; readonly review: ReactNode }) => {
  const words = useWords(decisionWords)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const restores = useWords(restoreWords)
  const isReviewed = isPlan(run.type) && run.speculative !== true
  if (run.status === "queued")
    return (
      <Suspense fallback={<Skeleton rows={2} />}>
        <Queue run={run} />
      </Suspense>
    )
  if (run.status === "running") {
    return cancelling ? (
      <Notice tone="warn">
        {words.cancelRequested}
        {run.cancelRequest === undefined ? null : <Decided what={words.askedToStop} decision={run.cancelRequest} />}
      </Notice>
    ) : null
  }
  if (run.status === "waiting_approval") return review
  if (run.status === "superseded" || run.status === "expired") {
    return (
      <Notice tone="info">
        <p>{run.status === "superseded" ? words.superseded : words.expired}</p>
        <Ended run={run} reason={endReason} />
        {run.speculative === true ? null : <NewerPlan run={run} />}
        {isReviewed && run.type !== "restore" ? <Again run={run} capsule={capsule} /> : null}
      </Notice>
    )
  }
  if (run.status === "cancelled") {
    const text = !isReviewed || run.planDigest === undefined ? words.cancelled : words.discarded
    return (
      <Notice tone="info">
        <p>{run.approvedAt === undefined ? text : words.withdrawn}</p>
        <Ended run={run} reason={endReason} />
        <Comment run={run} />
        {isReviewed && run.type !== "restore" ? <Again run={run} capsule={capsule} /> : null}
      </Notice>
    )
  }
  if (!isReviewed || run.status !== "succeeded" || run.approvedAt === undefined) return null
  if (apply === null) return review
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

/**
 * The action, if any, that a person can or must now take on this Run. An open dialog remains open after the review has
 * ended, and reports the result.
 */
export const Decision = (props: DecisionProps) => {
  const { run, capsule, endReason } = props
  const [open, setOpen] = useState<"approve" | "discard" | undefined>(undefined)
  const apply = useApplyOf(run)
  const now = useNow(1000)
  const isReviewed = isPlan(run.type) && run.speculative !== true
  const standing = useQuery({ ...runApprovalsQuery(run.id), enabled: isReviewed }).data
  // Reads the approvals again, because an approved plan may have lost an approval in the meantime, and a rule or an orphaned
  // state may have been added.
  const acknowledged = (standing?.uncertain ?? []).every((each) => each.acknowledged)
  const approved =
    run.approvedAt !== undefined && acknowledged && (standing === undefined || standing.state === "approved")
  const end = isReviewed
    ? planEndOf(run, { capsule, isApplied: apply !== undefined && apply !== null, now })
    : undefined
  const close = () => setOpen(undefined)
  // The letter keys click the buttons, so they have no effect unless the button is shown and enabled.
  const press = (button: string) => () =>
    document.querySelector<HTMLButtonElement>(`[data-decide="${button}"]:not(:disabled)`)?.click()
  useLetterKeys({ a: press("approve"), d: press("discard") })
  return (
    <>
      <Content
        {...props}
        apply={apply}
        review={
          <>
            {capsule === undefined ? null : <UncertainPlan uncertain={standing?.uncertain ?? []} capsule={capsule} />}
            <Review
              run={run}
              standing={standing}
              approved={approved}
              end={end}
              endReason={endReason}
              onOpen={setOpen}
            />
          </>
        }
      />
      {open === "approve" ? (
        <ApproveDialog
          run={run}
          capsule={capsule}
          standing={standing}
          approved={approved}
          end={end}
          endReason={endReason}
          onClose={close}
        />
      ) : null}
      {open === "discard" ? <CancelDialog run={run} onClose={close} /> : null}
    </>
  )
}
