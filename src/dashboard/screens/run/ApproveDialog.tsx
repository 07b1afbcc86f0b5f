import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { approvalsOfRun, runsApply, runsApprove } from "../../api/Endpoints.ts"
import { runQuery } from "../../api/Queries.ts"
import type { Capsule, ResourceChange, Run, RunApprovals } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { AreaField } from "../../ui/Field.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { standingWords } from "./ApprovalStandingWords.ts"
import { decisionWords } from "./DecisionWords.ts"
import { restoreWords } from "./RestoreWords.ts"
import { UncertainGround } from "./UncertainGround.tsx"
import { uncertainWords } from "./UncertainWords.ts"
import { ChangeSign } from "./ChangeRow.tsx"
import { changeKind, changeName, isLoss, losses, movesOf } from "./PlanDiff.ts"
import { Counts } from "./PlanView.tsx"
import { planWords } from "./PlanWords.ts"
import { ApprovalStanding } from "./ApprovalStanding.tsx"
import { PlanBasis, PlanPurposeText } from "./PlanBasis.tsx"
import type { PlanEnd } from "./PlanEnd.ts"
import { PlanEndNotice } from "./PlanEndNotice.tsx"
import { useDecision } from "../../ui/Decision.ts"

interface ApproveDialogProps {
  readonly run: Run
  readonly capsule: Capsule | undefined
  readonly standing: RunApprovals | undefined
  /** True if the plan has all approvals and only has to be applied. */
  readonly approved: boolean
  /** The reason why the plan became void while the dialog was open. */
  readonly end: PlanEnd | undefined
  readonly endReason: string | undefined
  readonly onClose: () => void
}

/** Number of objects that the plan removes, according to its changes or, if the changes are truncated, its counts. */
export const losesOf = (run: Run): number =>
  Math.max(losses(run.resourceChanges ?? []), (run.planSummary?.destroy ?? 0) + (run.planSummary?.replace ?? 0))

const namedAtMost = 5

/** The names of the objects that the plan removes, shown last, so that the person reads them just before confirming. */
const Lost = ({ changes, count }: { readonly changes: ReadonlyArray<ResourceChange>; readonly count: number }) => {
  const words = useWords(decisionWords)
  const plans = useWords(planWords)
  const lost = changes.filter((change) => isLoss(changeKind(change))).slice(0, namedAtMost)
  return (
    <ul className="addresses">
      {lost.map((change) => (
        <li key={changeName(change)}>
          <ChangeSign kind={changeKind(change)} /> <code>{change.address}</code>
          {change.deposed === undefined ? null : <span className="muted"> {plans.deposed(change.deposed)}</span>}
        </li>
      ))}
      {count > lost.length && lost.length > 0 ? <li className="muted">{words.andMore(count - lost.length)}</li> : null}
    </ul>
  )
}

/** The texts for the decision, which its button uses as well. */
export const decideWords = (
  run: Run,
  approved: boolean,
  words: typeof decisionWords.en,
  restores: typeof restoreWords.en
): string => {
  if (run.type === "restore") return approved ? restores.restoreNow : restores.approve
  if (approved) return words.applyNow
  return run.type === "destroy_plan" ? words.approveAndDestroy : words.approveAndApply
}

export const ApproveDialog = ({ run, capsule, standing, approved, end, endReason, onClose }: ApproveDialogProps) => {
  const words = useWords(decisionWords)
  const standings = useWords(standingWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [comment, setComment] = useState("")
  // Uses one key as long as the dialog exists, so that pressing again after a lost response cannot apply twice.
  const [key] = useState(newIdempotencyKey)
  const [wasApproved] = useState(approved)
  // The person has to type this name if the plan destroys or replaces something.
  const name = capsule?.name ?? run.id
  // True if approval rules apply, so another approval may still be needed.
  const isRuled = (standing?.rules.length ?? 0) > 0
  const lost = losesOf(run)
  const isRestore = run.type === "restore"
  const restores = useWords(restoreWords)
  const ground = useWords(uncertainWords)
  const uncertain = standing?.uncertain ?? []
  const dangerous = lost > 0 || isRestore || run.type === "destroy_plan" || uncertain.length > 0
  const confirmation = useTypedName(
    name,
    isRestore ? restores.confirmHelp : lost > 0 || run.type === "destroy_plan" ? words.confirmHelp : ground.confirmHelp
  )
  const confirmed = !dangerous || confirmation.isTyped
  const approve = useDecision({
    send: async (signal, thenApply: boolean) => {
      if (!approved) {
        await call(runsApprove, {
          signal,
          params: { runId: run.id },
          body: {
            ...(run.planDigest === undefined ? {} : { planDigest: run.planDigest }),
            ...(comment.trim() === "" ? {} : { comment: comment.trim() }),
            // The person acknowledged this list by typing the Capsule's name below it.
            ...(uncertain.length === 0 ? {} : { acknowledged: [...new Set(uncertain.map(({ code }) => code))] })
          }
        })
      }
      if (isRuled && thenApply) {
        const { approvals } = await call(approvalsOfRun, { params: { runId: run.id } })
        if (approvals.state !== "approved") {
          toast(standings.moreNeeded)
          return undefined
        }
      }
      return thenApply
        ? (await call(runsApply, { signal, params: { runId: run.id }, idempotencyKey: key })).run
        : undefined
    },
    onSuccess: (apply) => {
      onClose()
      if (apply !== undefined)
        void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: apply.id } })
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: runQuery(run.id).queryKey }),
        queryClient.invalidateQueries({ queryKey: ["workspace"] })
      ])
  })
  // Do not warn about changes that the person's own decision caused.
  const isDeciding = approve.isPending || approve.isSuccess
  const stop = isDeciding ? undefined : (end ?? (wasApproved && !approved ? "lapsed" : undefined))
  const isReady = confirmed && stop === undefined
  return (
    <Dialog title={isRestore ? restores.approveTitle : words.approveDialogTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !approve.isPending) approve.mutate(true)
        }}
      >
        {run.refreshOnly === true ? (
          <p>{words.reviewAccepts(run.resourceDrift?.length ?? 0)}</p>
        ) : run.planSummary === undefined ? null : (
          <Counts summary={run.planSummary} moves={movesOf(run.resourceChanges ?? [])} />
        )}
        {isRestore ? <p>{restores.reviewText}</p> : null}
        <UncertainGround uncertain={uncertain} capsule={capsule} />
        {(lost > 0 || run.type === "destroy_plan") && !isRestore ? (
          <Notice tone="warn" title={words.reviewLosses(Math.max(1, lost))}>
            <Lost changes={run.resourceChanges ?? []} count={lost} />
          </Notice>
        ) : null}
        {isRestore ? null : <p className="muted">{words.approveBinds}</p>}
        <PlanPurposeText run={run} />
        <PlanBasis run={run} capsule={capsule} standing={standing} />
        {standing === undefined ? null : <ApprovalStanding standing={standing} />}
        {dangerous ? confirmation.field : null}
        {!approved ? (
          <AreaField
            label={words.comment}
            helper={words.commentHelp}
            optional
            rows={2}
            maxLength={2000}
            value={comment}
            onChange={(event) => setComment(event.target.value)}
          />
        ) : null}
        {stop === undefined ? null : <PlanEndNotice run={run} end={stop} reason={endReason} />}
        {approve.error === null ? null : <FaultNotice error={approve.error} />}
        <div className="form-actions">
          <Button tone={dangerous ? "danger" : "primary"} type="submit" disabled={!isReady} busy={approve.isPending}>
            {decideWords(run, approved, words, restores)}
          </Button>
          {!approved ? (
            <Button disabled={!isReady || approve.isPending} busy={false} onClick={() => approve.mutate(false)}>
              {words.approveOnly}
            </Button>
          ) : null}
          <Button tone="quiet" onClick={onClose}>
            {terms.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
