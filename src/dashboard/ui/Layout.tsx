import type { ReactNode } from "react"
import { useTitle } from "./Feedback.tsx"

interface PageProps {
  readonly title: string
  /** Replaces the title in the heading, for example to isolate text that people wrote. */
  readonly heading?: ReactNode
  /** The breadcrumbs of this page, shown above the title. */
  readonly trail?: ReactNode
  readonly beside?: ReactNode
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly documentTitle?: string
  readonly narrow?: boolean
}

export const Page = ({
  title,
  heading = title,
  trail,
  beside,
  about,
  actions,
  children,
  documentTitle,
  narrow = false
}: PageProps) => {
  useTitle(documentTitle ?? title)
  return (
    <div className={narrow ? "page page-narrow" : "page"}>
      <header className="page-head">
        <div className="page-title">
          {trail === undefined ? null : <div className="trail">{trail}</div>}
          <div className="page-name">
            <h1>{heading}</h1>
            {beside}
          </div>
          {about === undefined ? null : <div className="page-about">{about}</div>}
        </div>
        {actions === undefined ? null : <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface PanelProps {
  readonly title?: string
  readonly beside?: ReactNode
  readonly actions?: ReactNode
  readonly about?: ReactNode
  readonly children: ReactNode
  /** True if rows extend to the edge of the panel. */
  readonly flush?: boolean
  readonly tone?: "danger"
}

export const Panel = ({ title, beside, actions, about, children, flush = false, tone }: PanelProps) => (
  <section className={`panel${flush ? " panel-flush" : ""}${tone === undefined ? "" : ` panel-${tone}`}`}>
    {title === undefined ? null : (
      <header className="panel-head">
        <div className="panel-title">
          <h2>{title}</h2>
          {beside}
        </div>
        {actions === undefined ? null : <div className="panel-actions">{actions}</div>}
        {about === undefined ? null : <p className="panel-about">{about}</p>}
      </header>
    )}
    <div className="panel-body">{children}</div>
  </section>
)

/** Facts about a record, as labels with values. A fact without a value has no row. */
export const Facts = ({
  items,
  columns = false
}: {
  readonly items: ReadonlyArray<readonly [string, ReactNode]>
  readonly columns?: boolean
}) => (
  <dl className={columns ? "facts facts-columns" : "facts"}>
    {items
      .filter(([, value]) => value !== undefined && value !== null && value !== "")
      .map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
