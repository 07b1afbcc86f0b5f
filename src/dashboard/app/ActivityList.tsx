import { Link } from "@tanstack/react-router"
import type { AuditEvent, Run } from "../api/Types.ts"
import { Icon } from "../ui/Icon.tsx"
import { Sum } from "../ui/Sum.tsx"
import { TextWithCode } from "../ui/TextWithCode.tsx"
import { Time } from "../ui/Time.tsx"
import { useLanguage, useWords } from "../words/Words.ts"
import { actionWords } from "./ActionWords.ts"
import { type ActivityLine, commentOf, foldRepeated } from "./ActivityLines.ts"
import { markOf } from "./ActivityMarks.ts"
import { ActivityTarget } from "./ActivityTarget.tsx"
import { useActorName } from "./Actors.ts"
import { useWorkspace } from "./Workspace.ts"
import { counted, exactTime } from "../words/Format.ts"

const isAction = (action: string, names: Readonly<Record<string, string>>): string =>
  names[action] ?? action.replaceAll(/[._]/g, " ")

const words = {
  en: {
    former: "A former member",
    token: "API token",
    service: "svc",
    webhook: "Webhook",
    times: (count: number) => `${count} times`,
    quiet: (syncs: number, sources: number) =>
      `${counted(syncs, "sync")} of ${counted(sources, "source")} brought nothing new`
  },
  ja: {
    former: "以前のメンバー",
    token: "API トークン",
    service: "svc",
    webhook: "Webhook",
    times: (count: number) => `${count} 回`,
    quiet: (syncs: number, sources: number) => `${sources} 個のソースの同期 ${syncs} 回では変更がありませんでした`
  }
}

/** The Runs that the page has loaded, keyed by id, so that the activity can show what plans change. */
type KnownRuns = ReadonlyMap<string, Run>

const planOf = (event: AuditEvent, runs: KnownRuns) => {
  const run = event.runId === undefined ? undefined : runs.get(event.runId)
  return run?.planSummary ?? (run?.planRunId === undefined ? undefined : runs.get(run.planRunId)?.planSummary)
}

const Actor = ({ event: { actor } }: { readonly event: AuditEvent }) => {
  const language = useLanguage()
  const actorName = useActorName()
  const { subject } = actor
  const name = subject === undefined ? undefined : actorName(subject)
  // An unknown subject is either a person who has left the Workspace, or is not a person at all.
  return (
    <strong title={subject}>
      {name === undefined || name === subject ? words[language][actor.kind === "user" ? "former" : actor.kind] : name}
    </strong>
  )
}

interface RowProps {
  readonly event: AuditEvent
  readonly runs: KnownRuns
  readonly detailed: boolean
}

const Sentence = ({ event, runs, detailed }: RowProps) => {
  const actions = useWords(actionWords)
  const language = useLanguage()
  const workspace = useWorkspace()
  const summary = planOf(event, runs)
  const comment = commentOf(event)
  return (
    <span className="activity-text">
      <span>
        <Actor event={event} /> <TextWithCode text={isAction(event.action, actions)} />{" "}
        {event.runId === undefined ? null : (
          <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: event.runId }}>
            {actions.openRun}
            <span className="visually-hidden"> {exactTime(language, event.createdAt)}</span>
          </Link>
        )}{" "}
        {summary === undefined ? null : <Sum summary={summary} />}
      </span>
      {comment === undefined ? null : (
        <blockquote className="activity-comment" dir="auto">
          {comment}
        </blockquote>
      )}
      {detailed ? (
        <span className="activity-detail">
          <ActivityTarget event={event} run={event.runId === undefined ? undefined : runs.get(event.runId)} />
        </span>
      ) : null}
    </span>
  )
}

const Mark = ({ event }: { readonly event: AuditEvent }) => {
  const { icon, tone } = markOf(event)
  return (
    <span className={`activity-mark activity-${tone}`} aria-hidden="true">
      <Icon name={icon} />
    </span>
  )
}

const Row = (props: RowProps) => (
  <li className="activity-row">
    <Mark event={props.event} />
    <Sentence {...props} />
    <Time at={props.event.createdAt} />
  </li>
)

const Folded = ({
  line: { events, kind },
  ...props
}: Omit<RowProps, "event"> & { readonly line: Exclude<ActivityLine, { readonly kind: "event" }> }) => {
  const text = useWords(words)
  const actions = useWords(actionWords)
  const [newest] = events
  const sources = new Set(events.map(({ target }) => target.id)).size
  return (
    <li className="activity-row">
      <Mark event={newest} />
      <details className="activity-fold">
        <summary className={kind === "quiet" ? "activity-quiet" : ""}>
          {kind === "quiet" ? (
            text.quiet(events.length, sources)
          ) : (
            <>
              <Actor event={newest} /> <TextWithCode text={isAction(newest.action, actions)} />{" "}
              <span className="tag">{text.times(events.length)}</span>
            </>
          )}
        </summary>
        <ul>
          {events.map((event) => (
            <li key={event.id} className="activity-again">
              <Sentence event={event} {...props} />
              <Time at={event.createdAt} />
            </li>
          ))}
        </ul>
      </details>
      <Time at={newest.createdAt} />
    </li>
  )
}

const noRuns: KnownRuns = new Map()

/**
 * Renders the lines of the activity. If `detailed` is set, the lines include the affected records, for pages that are not
 * about one record.
 */
export const ActivityRows = ({
  lines,
  runs = noRuns,
  detailed = false
}: {
  readonly lines: ReadonlyArray<ActivityLine>
  readonly runs?: KnownRuns
  readonly detailed?: boolean
}) => (
  <ul className="activity">
    {lines.map((line) =>
      line.kind === "event" ? (
        <Row key={line.event.id} event={line.event} runs={runs} detailed={detailed} />
      ) : (
        <Folded key={line.events[0].id} line={line} runs={runs} detailed={detailed} />
      )
    )}
  </ul>
)

/** Set to include the affected records. */
export const ActivityList = ({
  events,
  detailed = false
}: {
  readonly events: ReadonlyArray<AuditEvent>
  readonly detailed?: boolean
}) => <ActivityRows lines={foldRepeated(events)} detailed={detailed} />
