import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../api/Call.ts"
import { newIdempotencyKey } from "../api/Client.ts"
import { runsApply, runsApprove, runsCancel } from "../api/Endpoints.ts"
import { Button } from "../ui/Button.tsx"
import { useDecision } from "../ui/Decision.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { FaultNotice } from "../ui/Feedback.tsx"
import { AreaField } from "../ui/Field.tsx"
import { Sum } from "../ui/Sum.tsx"
import { toast } from "../ui/Toast.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { type BulkPlan, type ChosenPlans, onlyVerbOf, sumOfPlans } from "./BulkPlans.ts"
import { bulkWords } from "./BulkWords.ts"
import { useMay } from "./Workspace.ts"

/** The checkbox that selects a plan. */
export const PlanChoice = ({ plan, plans }: { readonly plan: BulkPlan; readonly plans: ChosenPlans }) => {
  const words = useWords(bulkWords)
  return (
    <label className="plan-choice">
      <input
        type="checkbox"
        checked={plans.isChosen(plan.runId)}
        onChange={({ target }) => plans.choose([plan], target.checked)}
      />
      <span className="visually-hidden">
        {words.choose(plan.environment === undefined ? plan.name : `${plan.name} · ${plan.environment}`)}
      </span>
    </label>
  )
}

/** The checkbox that selects every plan on the page that can be decided in bulk. */
export const AllPlansChoice = ({ plans }: { readonly plans: ChosenPlans }) => {
  const words = useWords(bulkWords)
  const { chosen, offered } = plans
  return offered.length < 2 ? null : (
    <label className="plan-choice plan-choice-all">
      <input
        type="checkbox"
        checked={chosen.length === offered.length}
        ref={(box) => {
          if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < offered.length
        }}
        onChange={({ target }) => plans.choose(offered, target.checked)}
      />
      {words.chooseAll(offered.length)}
    </label>
  )
}

type BulkDecision = "approve" | "discard"

type Outcome = keyof typeof bulkWords.en.results | { readonly error: unknown }

interface Decided {
  readonly plan: BulkPlan
  readonly outcome: Outcome
}

const isFailure = ({ outcome }: Decided): boolean => typeof outcome !== "string"

interface BulkDialogProps {
  readonly kind: BulkDecision
  readonly plans: ReadonlyArray<BulkPlan>
  /** Called after the decisions have been sent. If the dialog is closed before they are sent, the plans remain selected. */
  readonly onDecided: () => void
  readonly onClose: () => void
}

/**
 * Sends a normal decision for each plan, with the digest of the listed plan. If a decision is refused, continues with the
 * next plan.
 */
const BulkDialog = ({ kind, plans: given, onDecided, onClose }: BulkDialogProps) => {
  const words = useWords(bulkWords)
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  // Keeps the plans as they were when the person selected them, because the list behind the open dialog is refreshed.
  const [plans] = useState(given)
  const [key] = useState(newIdempotencyKey)
  const [text, setText] = useState("")
  const comment = text.trim()

  const decideOne = async (
    { planDigest, runId }: BulkPlan,
    thenApply: boolean,
    signal: AbortSignal
  ): Promise<Outcome> => {
    const params = { runId }
    if (kind === "discard") {
      await call(runsCancel, { signal, params, body: { planDigest, ...(comment === "" ? {} : { reason: comment }) } })
      return "discarded"
    }
    const { run } = await call(runsApprove, {
      signal,
      params,
      body: { planDigest, ...(comment === "" ? {} : { comment }) }
    })
    if (run.status === "waiting_approval") return "given"
    if (!thenApply) return "approved"
    await call(runsApply, { signal, params, idempotencyKey: `${key}:${runId}` })
    return "applied"
  }

  const decide = useDecision({
    send: async (signal, thenApply: boolean) => {
      const decided: Array<Decided> = []
      for (const plan of plans) {
        const outcome = await decideOne(plan, thenApply, signal).catch((error: unknown): Outcome => {
          signal.throwIfAborted()
          return { error }
        })
        decided.push({ plan, outcome })
      }
      return decided
    },
    onSuccess: (decided) => {
      onDecided()
      if (decided.some(isFailure)) return
      toast(words.done(decided.length))
      onClose()
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: ["workspace"] }),
        queryClient.invalidateQueries({ queryKey: ["run"] })
      ])
  })

  const decided = decide.data
  if (decided !== undefined) {
    return (
      <Dialog title={words.resultTitle(decided.filter(isFailure).length, decided.length)} onClose={onClose}>
        <ul className="bulk-list">
          {decided.map(({ outcome, plan }) => (
            <li key={plan.runId}>
              <strong>{plan.name}</strong>
              {typeof outcome === "string" ? (
                <span className="muted">{words.results[outcome]}</span>
              ) : (
                <FaultNotice error={outcome.error} />
              )}
            </li>
          ))}
        </ul>
        <div className="form-actions">
          <Button onClick={onClose}>{terms.close}</Button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog
      title={kind === "approve" ? words.approveTitle(plans.length) : words.discardTitle(plans.length)}
      onClose={onClose}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!decide.isPending) decide.mutate(true)
        }}
      >
        <p>{kind === "approve" ? words.approveText : words.discardText}</p>
        <ul className="bulk-list">
          {plans.map((plan) => (
            <li key={plan.runId}>
              <span className="row-name">
                <strong>{plan.name}</strong>
                {plan.environment === undefined ? null : <span className="tag">{plan.environment}</span>}
              </span>
              <Sum summary={plan.summary} />
            </li>
          ))}
        </ul>
        <AreaField
          label={kind === "approve" ? words.comment : words.reason}
          optional
          rows={2}
          maxLength={kind === "approve" ? 2000 : 500}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {decide.error === null ? null : <FaultNotice error={decide.error} />}
        <div className="form-actions">
          <Button tone={kind === "approve" ? "primary" : "danger"} type="submit" busy={decide.isPending}>
            {kind === "approve" ? words.approveAndApply(plans.length) : words.discardDo(plans.length)}
          </Button>
          {kind === "approve" ? (
            <Button disabled={decide.isPending} busy={false} onClick={() => decide.mutate(false)}>
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

/** Shows the total of the changes in the selected plans, and offers the decisions about these plans. */
export const BulkBar = ({ plans }: { readonly plans: ChosenPlans }) => {
  const words = useWords(bulkWords)
  const may = useMay()
  const [open, setOpen] = useState<BulkDecision | undefined>(undefined)
  const { chosen } = plans
  const summary = sumOfPlans(chosen)
  const only = onlyVerbOf(summary)
  return (
    <>
      {chosen.length === 0 ? null : (
        <section className="bulk-bar" aria-label={words.bar}>
          <output>
            <strong>{words.chosen(chosen.length)}</strong>
            {only === undefined ? null : `, ${words.only[only]}`}
          </output>
          <Sum summary={summary} />
          <span className="bulk-actions">
            {may("admin") ? (
              <Button small tone="primary" onClick={() => setOpen("approve")}>
                {words.approve}
              </Button>
            ) : null}
            <Button small onClick={() => setOpen("discard")}>
              {words.discard}
            </Button>
            <Button small tone="quiet" onClick={plans.clear}>
              {words.clear}
            </Button>
          </span>
        </section>
      )}
      {open === undefined ? null : (
        <BulkDialog kind={open} plans={chosen} onDecided={plans.clear} onClose={() => setOpen(undefined)} />
      )}
    </>
  )
}
