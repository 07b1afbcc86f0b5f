import { type ReactNode, useEffect } from "react"
import { visibleText } from "../../../schema/records/VisibleText.ts"
import { Fault } from "../api/Fault.ts"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Button } from "./Button.tsx"
import { CopyText } from "./CopyText.tsx"
import { Icon, type IconName } from "./Icon.tsx"
import { TextWithCode } from "./TextWithCode.tsx"

export type NoticeTone = "info" | "good" | "warn" | "bad"

const noticeIcon: Readonly<Record<NoticeTone, IconName>> = {
  info: "info",
  good: "check",
  warn: "warning",
  bad: "warning"
}

export const Notice = ({
  tone,
  title,
  children
}: {
  readonly tone: NoticeTone
  readonly title?: string
  readonly children?: ReactNode
}) => (
  <div className={`notice notice-${tone}`} role={tone === "bad" ? "alert" : "note"}>
    <Icon name={noticeIcon[tone]} />
    <div className="notice-text">
      {title === undefined ? null : <strong>{title}</strong>}
      {children}
    </div>
  </div>
)

const sentence = (fault: Fault, words: (typeof vocabulary)["en"]["fault"]): string => {
  if (fault.code === "network") return words.network
  if (fault.code === "offline") return words.offline
  if (fault.code === "unreachable") return words.unreachable
  if (fault.code === "unanswered") return words.unanswered
  if (fault.code === "permission_denied") return words.forbidden
  if (fault.code === "capability_not_available") return words.notAvailable
  if (fault.code === "reauthentication_required") return words.unconfirmed
  if (fault.code === "not_found" && fault.message === "") return words.notFound
  return fault.message
}

/** The server's message for a failure, with the request id that an operator can search for. */
export const FaultNotice = ({
  error,
  onRetry
}: {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}) => {
  const words = useWords(vocabulary)
  const fault = error instanceof Fault ? error : new Fault({ status: 0, code: "unexpected", message: String(error) })
  const text = sentence(fault, words.fault)
  return (
    <Notice tone="bad" title={fault.code === "unanswered" ? words.fault.unansweredTitle : words.fault.title}>
      {/* The server's messages are in English. */}
      <p {...(text === fault.message ? { lang: "en" } : {})}>
        <TextWithCode text={text} />
      </p>
      {fault.requestId === undefined ? null : (
        <p className="notice-meta">
          {words.requestId} <CopyText text={fault.requestId} />
        </p>
      )}
      {onRetry === undefined ? null : (
        <Button small icon="refresh" onClick={onRetry}>
          {words.retry}
        </Button>
      )}
    </Notice>
  )
}

interface EmptyProps {
  readonly icon: IconName
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
  /** True if the page has no other content, so that this title is the page title. */
  readonly whole?: boolean
}

/** Shown if there are no records yet. Explains which records appear here, and how to create them. */
export const Empty = ({ icon, title, children, action, whole = false }: EmptyProps) => (
  <div className="empty">
    <span className="empty-icon">
      <Icon name={icon} />
    </span>
    {whole ? <h1 className="empty-title">{title}</h1> : <h2>{title}</h2>}
    {children === undefined ? null : <div className="empty-text">{children}</div>}
    {action === undefined ? null : <div className="empty-action">{action}</div>}
  </div>
)

/** Grey rows of the expected height, so that the layout does not change. */
export const Skeleton = ({
  rows = 3,
  height = "row"
}: {
  readonly rows?: number
  readonly height?: "line" | "row" | "block"
}) => {
  const words = useWords(vocabulary)
  return (
    <output className="skeleton" aria-label={words.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} className={`skeleton-${height}`} />
      ))}
    </output>
  )
}

interface LoadableProps<A> {
  readonly query: {
    readonly data: A | undefined
    readonly error: unknown
    readonly isPending: boolean
    readonly refetch: () => unknown
  }
  readonly skeleton?: ReactNode
  readonly children: (data: A) => ReactNode
}

/**
 * Renders the three states of a query. If a query fails after it has succeeded once, the error is shown above the old
 * content.
 */
export const Loadable = <A,>({ query, skeleton, children }: LoadableProps<A>) => {
  if (query.data === undefined) {
    if (query.error !== null && query.error !== undefined)
      return <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
    return skeleton ?? <Skeleton />
  }
  return (
    <>
      {query.error === null || query.error === undefined ? null : (
        <FaultNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {children(query.data)}
    </>
  )
}

export const useTitle = (title: string | undefined): void => {
  useEffect(() => {
    document.title = title === undefined ? "svc" : `${visibleText(title)} · svc`
  }, [title])
}
