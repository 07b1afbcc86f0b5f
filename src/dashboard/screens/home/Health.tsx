import type { CapsuleHealth } from "../../api/Types.ts"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { integer } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { homeWords } from "./Words.ts"

const parts = ["healthy", "unchecked", "waiting", "notApplied", "failed", "disabled"] as const

const tones: Readonly<Record<(typeof parts)[number], StatusTone>> = {
  healthy: "good",
  unchecked: "muted",
  waiting: "attention",
  notApplied: "neutral",
  failed: "bad",
  disabled: "muted"
}

/** Every Capsule counted once, by its worst reason. */
export const Health = ({ health }: { readonly health: CapsuleHealth }) => {
  const words = useWords(homeWords)
  const language = useLanguage()
  const shown = parts.filter((part) => health[part] > 0)
  return (
    <div className="health">
      <div className="health-bar" aria-hidden="true">
        {shown.map((part) => (
          <i key={part} className={`health-${tones[part]}`} style={{ flexGrow: health[part] }} />
        ))}
      </div>
      <dl>
        {shown.map((part) => (
          <div key={part}>
            <dt>
              <Status tone={tones[part]}>{words.health[part]}</Status>
            </dt>
            <dd>{integer(language, health[part])}</dd>
          </div>
        ))}
      </dl>
      {health.complete ? null : <p className="muted">{words.incomplete(integer(language, health.capsules))}</p>}
    </div>
  )
}
