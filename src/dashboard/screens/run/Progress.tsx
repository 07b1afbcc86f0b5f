import type { RunEvent } from "../../api/Types.ts"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useNow } from "../../ui/Time.tsx"
import { duration } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { progressOf, type ResourceProgress } from "./Phases.ts"
import { runWords } from "./Words.ts"

const isAction = (action: string, names: Readonly<Record<string, string>>): string => names[action] ?? action

const Row = ({ item, running }: { readonly item: ResourceProgress; readonly running: boolean }) => {
  const words = useWords(runWords)
  const language = useLanguage()
  const now = useNow(1000)
  const end = item.finishedAt === undefined ? (running ? now : undefined) : Date.parse(item.finishedAt)
  const stopped = item.state === "active" && !running
  return (
    <li className={`resource resource-${stopped ? "stopped" : item.state}`}>
      <span className="resource-mark" aria-hidden="true">
        {item.state === "done" ? (
          <Icon name="check" />
        ) : item.state === "failed" ? (
          <Icon name="cross" />
        ) : stopped ? (
          <Icon name="warning" />
        ) : (
          <span className="spinner" />
        )}
      </span>
      <code>{item.address}</code>
      <span className="resource-action">{item.state === "active" ? isAction(item.action, words.actions) : ""}</span>
      <span className="resource-took">
        {end === undefined ? "" : duration(language, end - Date.parse(item.startedAt))}
      </span>
    </li>
  )
}

/** An apply, resource by resource, as it happens. */
export const Progress = ({
  events,
  expected,
  running
}: {
  readonly events: ReadonlyArray<RunEvent>
  readonly expected: number
  readonly running: boolean
}) => {
  const words = useWords(runWords)
  const items = progressOf(events)
  if (items.length === 0) return null
  const done = items.filter(({ state }) => state === "done").length
  const failed = items.filter(({ state }) => state === "failed").length
  const total = Math.max(expected, items.length)
  return (
    <Panel
      flush
      title={words.progress}
      beside={
        <span className="count">
          {words.progressCount(done, total)}
          {failed === 0 ? "" : ` · ${words.progressFailed(failed)}`}
        </span>
      }
    >
      <progress className="bar-progress" max={total} value={done} aria-label={words.progressCount(done, total)} />
      <ul className="resources">
        {items.map((item) => (
          <Row key={`${item.address} ${item.action}`} item={item} running={running} />
        ))}
      </ul>
    </Panel>
  )
}
