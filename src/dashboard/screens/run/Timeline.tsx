import type { Run, RunEvent } from "../../api/Types.ts"
import { Icon } from "../../ui/Icon.tsx"
import { useNow } from "../../ui/Time.tsx"
import { duration } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { type Step, stepsOf } from "./Phases.ts"
import { runWords } from "./Words.ts"

const Mark = ({ step }: { readonly step: Step }) => {
  if (step.state === "done") return <Icon name="check" />
  if (step.state === "failed") return <Icon name="cross" />
  if (step.state === "waiting") return <Icon name="person" />
  return null
}

const isStep = (id: string, names: Readonly<Record<string, string>>): string => names[id] ?? id

const Took = ({ step }: { readonly step: Step }) => {
  const language = useLanguage()
  const now = useNow(1000)
  if (step.startedAt === undefined || step.state === "skipped") return null
  const end =
    step.finishedAt === undefined
      ? step.state === "active" || step.state === "waiting"
        ? now
        : undefined
      : Date.parse(step.finishedAt)
  return end === undefined ? null : (
    <span className="step-took">{duration(language, end - Date.parse(step.startedAt))}</span>
  )
}

export const Timeline = ({ run, events }: { readonly run: Run; readonly events: ReadonlyArray<RunEvent> }) => {
  const words = useWords(runWords)
  return (
    <ol className="timeline" aria-label={words.timeline}>
      {stepsOf(run, events).map((step) => (
        <li
          key={step.id}
          className={`step step-${step.state}`}
          aria-current={step.state === "active" || step.state === "waiting" ? "step" : undefined}
        >
          <span className="step-mark" aria-hidden="true">
            <Mark step={step} />
          </span>
          <span className="step-name">{isStep(step.id, words.steps)}</span>
          <span className="visually-hidden">: {words.stepStates[step.state]}</span>
          <Took step={step} />
        </li>
      ))}
    </ol>
  )
}
