import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { runApprovalsQuery } from "../../api/ApprovalQueries.ts"
import { call } from "../../api/Call.ts"
import { changeApprovalsApprove, changeApprovalsList, changeApprovalsWithdraw } from "../../api/Endpoints.ts"
import type { ChangeApproval, Run } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { AreaField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { ApprovalStanding } from "./ApprovalStanding.tsx"
import { PullRequestLink } from "./PullRequestLink.tsx"
import { changeReviewWords } from "./ChangeReviewWords.ts"

const changeApprovalsQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId, "change-approvals"],
    queryFn: ({ signal }) =>
      call(changeApprovalsList, { params: { runId }, signal }).then(({ changeApprovals }) => changeApprovals)
  })

const RunLink = ({ runId, text }: { readonly runId: string; readonly text: string }) => {
  const workspace = useWorkspace()
  return (
    <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId }}>
      {text}
    </Link>
  )
}

/** The approvals that were carried over to a plan, or the difference that prevented the carry-over. */
const CarryOver = ({ run: { carriedFrom, differsFrom } }: { readonly run: Run }) => {
  const words = useWords(changeReviewWords)
  if (carriedFrom !== undefined) {
    return (
      <Notice tone="good" title={words.carried(carriedFrom.pullRequestNumber)}>
        <p>
          {words.carriedText} {carriedFrom.applies === true ? words.applies : ""}
        </p>
        <RunLink runId={carriedFrom.runId} text={words.openChange} />
        {carriedFrom.pullRequestId === undefined ? null : <PullRequestLink id={carriedFrom.pullRequestId} />}
      </Notice>
    )
  }
  if (differsFrom === undefined) return null
  const codes = [...new Set(differsFrom.reasons.map(({ code }) => code))]
  return (
    <Notice tone="warn" title={words.differs(differsFrom.pullRequestNumber)}>
      <p>{words.differsText}</p>
      <ul>
        {codes.map((code) => (
          <li key={code}>{words.reasons[code]}</li>
        ))}
      </ul>
      {differsFrom.lines.length === 0 ? null : (
        <>
          <p>{words.lines}</p>
          <ul className="addresses">
            {differsFrom.lines.map(({ side, text }, index) => (
              // The index is the key, because lines are not unique and their order never changes.
              // oxlint-disable-next-line react/no-array-index-key
              <li key={`${index} ${side} ${text}`}>
                {side === "approved" ? "− " : "+ "}
                <span className="visually-hidden">{words.sides[side]}: </span>
                <code>{text}</code>
              </li>
            ))}
            {differsFrom.moreLines === undefined ? null : (
              <li className="muted">{words.moreLines(differsFrom.moreLines)}</li>
            )}
          </ul>
        </>
      )}
      <RunLink runId={differsFrom.runId} text={words.openChange} />
      {differsFrom.pullRequestId === undefined ? null : <PullRequestLink id={differsFrom.pullRequestId} />}
    </Notice>
  )
}

const ApproveChange = ({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) => {
  const words = useWords(changeReviewWords)
  const queryClient = useQueryClient()
  const [comment, setComment] = useState("")
  const approve = useDecision({
    send: (signal) =>
      call(changeApprovalsApprove, {
        signal,
        params: { runId: run.id },
        body: {
          planDigest: run.planDigest ?? "",
          changeDigest: run.changeDigest ?? "",
          ...(comment.trim() === "" ? {} : { comment: comment.trim() })
        }
      }),
    onSuccess: onClose,
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: changeApprovalsQuery(run.id).queryKey }),
        queryClient.invalidateQueries({ queryKey: runApprovalsQuery(run.id).queryKey })
      ])
  })
  return (
    <FormDialog
      title={words.approveTitle}
      action={words.approve}
      change={approve}
      onSubmit={() => approve.mutate()}
      onClose={onClose}
    >
      <p>{words.approveText}</p>
      <AreaField
        label={words.comment}
        optional
        rows={2}
        maxLength={2000}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
    </FormDialog>
  )
}

const Given = ({ approval, onWithdraw }: { readonly approval: ChangeApproval; readonly onWithdraw: () => void }) => {
  const words = useWords(changeReviewWords)
  const actorName = useActorName()
  const may = useMay()
  const { at, carriedToRunId, comment, subject, withdrawnAt, withdrawnBy } = approval
  return (
    <li>
      {words.approvedBy(actorName(subject))} <Time at={at} /> {comment === undefined ? null : <q>{comment}</q>}
      {withdrawnAt === undefined ? null : (
        <>
          {" "}
          {words.withdrawnBy(actorName(withdrawnBy ?? subject))} <Time at={withdrawnAt} />
        </>
      )}
      {carriedToRunId === undefined ? null : (
        <>
          {" "}
          <RunLink runId={carriedToRunId} text={words.usedFor} />
        </>
      )}
      {withdrawnAt === undefined && carriedToRunId === undefined && may("admin") ? (
        <>
          {" "}
          <Button small tone="quiet" onClick={onWithdraw}>
            {words.withdraw}
          </Button>
        </>
      ) : null}
    </li>
  )
}

/**
 * The approvals that a speculative plan's change has received, and the actions for people who may approve the later plan.
 */
const ChangeApprovals = ({ run }: { readonly run: Run }) => {
  const words = useWords(changeReviewWords)
  const may = useMay()
  const [approving, setApproving] = useState(false)
  const [withdrawing, setWithdrawing] = useState<string | undefined>(undefined)
  const given = useQuery(changeApprovalsQuery(run.id))
  const standing = useQuery(runApprovalsQuery(run.id)).data
  const mayApprove = may("admin") && run.changeDigest !== undefined && standing?.own.status === "counts"
  return (
    <Panel
      title={words.change}
      about={words.changeText}
      actions={mayApprove ? <Button onClick={() => setApproving(true)}>{words.approve}</Button> : null}
    >
      {given.error === null ? null : <FaultNotice error={given.error} />}
      {given.data?.length === 0 ? <p className="muted">{words.none}</p> : null}
      <ul>
        {(given.data ?? []).map((approval) => (
          <Given key={approval.id} approval={approval} onWithdraw={() => setWithdrawing(approval.id)} />
        ))}
      </ul>
      {standing === undefined ? null : <ApprovalStanding standing={standing} />}
      {approving ? <ApproveChange run={run} onClose={() => setApproving(false)} /> : null}
      {withdrawing === undefined ? null : (
        <RemovalDialog
          title={words.withdrawTitle}
          action={words.withdraw}
          list={changeApprovalsQuery(run.id).queryKey}
          remove={(signal) =>
            call(changeApprovalsWithdraw, { signal, params: { runId: run.id, changeApprovalId: withdrawing } })
          }
          onClose={() => setWithdrawing(undefined)}
        >
          {words.withdrawText}
        </RemovalDialog>
      )}
    </Panel>
  )
}

/** The approval of a change, shown on the speculative plan and on the lane's plan after the merge. */
export const ChangeReview = ({ run }: { readonly run: Run }) =>
  run.speculative === true ? <ChangeApprovals run={run} /> : <CarryOver run={run} />
