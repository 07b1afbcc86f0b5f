import { useState } from "react"
import type { Run, RunEvent } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useNow } from "../../ui/Time.tsx"
import { duration } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { expectedOf, notBegun, progressOf, type ResourceProgress } from "./Phases.ts"
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

const Waiting = ({ address }: { readonly address: string }) => {
  const words = useWords(runWords)
  return (
    <li className="resource resource-waiting">
      <span className="resource-mark" aria-hidden="true">
        <Icon name="clock" />
      </span>
      <code>{address}</code>
      <span className="resource-action">{words.notStarted}</span>
      <span className="resource-took" />
    </li>
  )
}

const urgency: Readonly<Record<ResourceProgress["state"], number>> = { failed: 0, active: 1, done: 2 }

/** Number of resources that can be read at a glance. Resources that need attention come first and are always shown. */
const shownAtFirst = 40

/**
 * An apply as it happens, resource by resource. Failed and active resources come first, then pending resources, then
 * finished resources with the newest first.
 */
export const Progress = ({
  events,
  plan,
  running,
  lost = false
}: {
  readonly events: ReadonlyArray<RunEvent>
  readonly plan: Run | undefined
  readonly running: boolean
  /** True if the last action is unknown because the agent was lost. */
  readonly lost?: boolean
}) => {
  const words = useWords(runWords)
  const [isWhole, setWhole] = useState(false)
  const items = progressOf(events)
  if (items.length === 0) return null
  const done = items.filter(({ state }) => state === "done").length
  const failed = items.filter(({ state }) => state === "failed").length
  const total = Math.max(expectedOf(plan), items.length)
  // While the apply is running, pending resources are not listed, because the count already includes them.
  const waiting = running || lost ? [] : notBegun(plan?.resourceChanges ?? [], items)
  const ordered = items.toReversed().toSorted((one, other) => urgency[one.state] - urgency[other.state])
  const open = ordered.filter(({ state }) => state !== "done")
  const rows = [
    ...open.map((item) => <Row key={`${item.address} ${item.action}`} item={item} running={running} />),
    ...waiting.map((address) => <Waiting key={address} address={address} />),
    ...ordered
      .slice(open.length)
      .map((item) => <Row key={`${item.address} ${item.action}`} item={item} running={running} />)
  ]
  const shown = isWhole ? rows : rows.slice(0, shownAtFirst)
  return (
    <Panel
      flush
      title={words.progress}
      beside={
        <span className="count">
          {words.progressCount(done, total)}
          {failed === 0 ? "" : ` · ${words.progressFailed(failed)}`}
          {waiting.length === 0 ? "" : ` · ${words.progressWaiting(waiting.length)}`}
        </span>
      }
    >
      <progress className="bar-progress" max={total} value={done} aria-label={words.progressCount(done, total)} />
      <ul className="resources">{shown}</ul>
      {shown.length === rows.length ? null : (
        <div className="resources-more">
          <Button small icon="down" onClick={() => setWhole(true)}>
            {words.progressMore(rows.length - shown.length)}
          </Button>
        </div>
      )}
    </Panel>
  )
}
