import type { ReactNode } from "react"
import { Icon } from "../../ui/Icon.tsx"

interface StepProps {
  readonly number: number
  readonly title: string
  readonly state: "done" | "open" | "later"
  readonly children?: ReactNode
}

export const Step = ({ number, title, state, children }: StepProps) => (
  <section className={`install-step install-${state}`} aria-current={state === "open" ? "step" : undefined}>
    <header>
      <span className="install-number" aria-hidden="true">
        {state === "done" ? <Icon name="check" /> : number}
      </span>
      <h2>{title}</h2>
    </header>
    {children === undefined || children === null ? null : <div className="install-body">{children}</div>}
  </section>
)
