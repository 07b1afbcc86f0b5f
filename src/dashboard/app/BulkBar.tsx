import { useState } from "react"
import { Button } from "../ui/Button.tsx"
import { Sum } from "../ui/Sum.tsx"
import { useWords } from "../words/Words.ts"
import { BulkDialog, type BulkDecision } from "./BulkDialog.tsx"
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
