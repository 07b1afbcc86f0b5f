import "../../app/Kit.ts"
import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type ReactNode, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react"
import { resourceHistoryQuery, resourcesQuery } from "../../api/ResourceQueries.ts"
import type { Capsule, ResourceEvent, StateResource } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Time } from "../../ui/Time.tsx"
import { shortCommit } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { resourceWords } from "./ResourceWords.ts"

const rowHeight = 53
/** Requests the next page when this many loaded rows remain. */
const ahead = 40

const nameOf = ({ address, deposed = "" }: StateResource): string => `${address} ${deposed}`

interface RowProps {
  readonly capsule: Capsule
  readonly resource: StateResource
  readonly open: boolean
  readonly onToggle: () => void
}

const Names = ({ names }: { readonly names: ReadonlyArray<string> }) =>
  names.map((name, index) => (
    <span key={name}>
      {index === 0 ? " " : ", "}
      <code>{name}</code>
    </span>
  ))

const RunLink = ({ id, children }: { readonly id: string; readonly children: ReactNode }) => {
  const workspace = useWorkspace()
  return (
    <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: id }}>
      {children}
    </Link>
  )
}

/** Shows the commit, plan, approver and apply of a change. */
const Way = ({ event: { at, run } }: { readonly event: ResourceEvent }) => {
  const words = useWords(resourceWords)
  const terms = useWords(vocabulary)
  const actorName = useActorName()
  const { approvedAt, approvedBy, commit, id, planRunId, plannedBy, trigger, type } = run
  const asked = plannedBy === undefined ? trigger && terms.trigger[trigger] : words.plannedBy(actorName(plannedBy))
  return (
    <ol className="resource-way">
      {commit === undefined ? null : (
        <li>
          <span className="visually-hidden">{words.commit} </span>
          <code title={commit}>{shortCommit(commit)}</code>
        </li>
      )}
      {planRunId === undefined ? null : (
        <li>
          <RunLink id={planRunId}>{terms.runType.plan}</RunLink> {asked}
        </li>
      )}
      {approvedAt === undefined ? null : (
        <li>{approvedBy === undefined ? words.approvedByService : words.approvedBy(actorName(approvedBy))}</li>
      )}
      <li>
        {type === undefined ? words.recordGone : <RunLink id={id}>{terms.runType[type]}</RunLink>}{" "}
        {at === undefined ? null : <Time at={at} />}
      </li>
    </ol>
  )
}

const Event = ({ event }: { readonly event: ResourceEvent }) => {
  const words = useWords(resourceWords)
  const names = event.changedAttributes ?? []
  return (
    <li className={`resource-event event-${event.change}`}>
      <span>
        <strong>
          {event.change === "changed" && names.length === 0 ? words.changedOnly : words.change[event.change]}
        </strong>
        {event.previousAddress === undefined ? null : <span> {words.movedFrom(event.previousAddress)}</span>}
        {event.tainted === undefined ? null : <span className="tag">{words.tainted}</span>}
        <Names names={names} />
      </span>
      <Way event={event} />
    </li>
  )
}

interface TimelineProps {
  readonly capsule: Capsule
  readonly resource: StateResource
}

/**
 * The history of one resource, newest first. If the resource was changed outside svc after the newest of these changes, that
 * comes first.
 */
const ResourceTimeline = ({ capsule, resource }: TimelineProps) => {
  const words = useWords(resourceWords)
  const query = useInfiniteQuery(resourceHistoryQuery(capsule.id, capsule.currentStateVersionId, resource))
  return (
    <section className="resource-history" aria-label={words.history(resource.address)}>
      <Loadable query={query}>
        {({ pages }) => {
          const drift = pages[0]?.drift
          const events = pages.flatMap((page) => page.events)
          return events.length === 0 ? (
            <p className="muted">{words.historyNone}</p>
          ) : (
            <ol>
              {drift === undefined ? null : (
                <li className="resource-event event-drift">
                  <span>
                    <strong>{drift.actions.includes("delete") ? words.driftGone : words.drift}</strong>
                    <Names names={drift.changedAttributes} />
                  </span>
                  <ol className="resource-way">
                    <li>
                      <RunLink id={drift.runId}>{words.driftRun}</RunLink>{" "}
                      {drift.at === undefined ? null : <Time at={drift.at} />}
                    </li>
                  </ol>
                </li>
              )}
              {events.map((event) => (
                <Event key={`${event.generation} ${event.change}`} event={event} />
              ))}
            </ol>
          )
        }}
      </Loadable>
      <MorePages query={query} />
    </section>
  )
}

const Row = ({ capsule, resource, open, onToggle }: RowProps) => {
  const words = useWords(resourceWords)
  const id = useId()
  return (
    <>
      <button
        type="button"
        className="row row-resource"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={onToggle}
      >
        <Icon name={open ? "down" : "chevron"} />
        <span className="row-name row-stack">
          <code className="resource-address">{resource.address}</code>
          <span className="muted">
            {resource.provider}
            {resource.deposed === undefined ? null : (
              <>
                {" "}
                · <span className="tag">{words.deposed(resource.deposed)}</span>
              </>
            )}
            {resource.tainted === undefined ? null : (
              <>
                {" "}
                · <span className="tag">{words.tainted}</span>
              </>
            )}
          </span>
        </span>
        <span className="resource-id">
          <span className="visually-hidden">{words.id} </span>
          {resource.id === undefined ? (
            <span className="muted" title={words.idHiddenHelp}>
              {words.idHidden}
            </span>
          ) : (
            <code>{resource.id}</code>
          )}
        </span>
        <span className="resource-changed">
          <span className="visually-hidden">{words.changed} </span>
          {resource.commit === undefined ? null : <code>{shortCommit(resource.commit)}</code>}{" "}
          <Time at={resource.changedAt} />
        </span>
      </button>
      {open ? (
        <div id={id}>
          <ResourceTimeline capsule={capsule} resource={resource} />
        </div>
      ) : null}
    </>
  )
}

interface ListProps {
  readonly capsule: Capsule
  readonly resources: ReadonlyArray<StateResource>
  readonly hasMore: boolean
  /** Requests the next page. */
  readonly onEnd: () => void
}

/** Renders only the visible rows, and loads only the pages that the person scrolls to. */
const List = ({ capsule, resources, hasMore, onEnd }: ListProps) => {
  const words = useWords(resourceWords)
  const scroller = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoised by a compiler
  const virtual = useVirtualizer({
    count: resources.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => {
      const resource = resources[index]
      return resource === undefined ? index : nameOf(resource)
    },
    estimateSize: () => rowHeight,
    overscan: 8
  })
  const items = virtual.getVirtualItems()
  const isNearEnd = (items.at(-1)?.index ?? 0) >= resources.length - ahead
  useEffect(() => {
    if (hasMore && isNearEnd) onEnd()
  }, [hasMore, isNearEnd, onEnd])
  const toggle = (name: string) => {
    const next = new Set(open)
    if (!next.delete(name)) next.add(name)
    setOpen(next)
  }
  return (
    <>
      <div className="row row-resource row-head" aria-hidden="true">
        <span />
        <span>{words.address}</span>
        <span className="resource-id">{words.id}</span>
        <span className="resource-changed">{words.changed}</span>
      </div>
      <div ref={scroller} className="long-list">
        <ul className="rows" style={{ height: `${virtual.getTotalSize()}px` }}>
          {items.map(({ index, start }) => {
            const resource = resources[index]
            if (resource === undefined) return null
            const name = nameOf(resource)
            return (
              <li
                key={name}
                ref={virtual.measureElement}
                data-index={index}
                className="resource-item"
                aria-setsize={hasMore ? -1 : resources.length}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Row capsule={capsule} resource={resource} open={open.has(name)} onToggle={() => toggle(name)} />
              </li>
            )
          })}
        </ul>
      </div>
    </>
  )
}

export const Resources = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(resourceWords)
  const [typed, setTyped] = useState("")
  const search = useDeferredValue(typed.trim())
  const query = useInfiniteQuery(resourcesQuery(capsule.id, capsule.currentStateVersionId, search))
  const { data, fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = query
  const resources = useMemo(() => data?.pages.flatMap((page) => page.resources) ?? [], [data])
  const isIndexed = data?.pages[0]?.indexed ?? true
  const hasState = capsule.currentStateVersionId !== undefined
  const empty = hasState ? (
    isIndexed ? (
      search === "" ? (
        <Empty icon="capsule" title={words.none} />
      ) : (
        <Empty icon="search" title={words.noneFound}>
          <p>{words.noneFoundText}</p>
        </Empty>
      )
    ) : (
      <Empty icon="lock" title={words.notIndexed}>
        <p>{words.notIndexedText}</p>
      </Empty>
    )
  ) : (
    <Empty icon="capsule" title={words.noState}>
      <p>{words.noStateText}</p>
    </Empty>
  )
  return (
    <Panel
      flush
      title={words.title}
      about={words.about}
      beside={
        resources.length === 0 ? null : <output className="count">{words.shown(resources.length, hasNextPage)}</output>
      }
      actions={
        hasState && isIndexed ? (
          <input
            type="search"
            className="input input-small resource-search"
            data-page-search
            maxLength={500}
            aria-label={words.search}
            placeholder={words.search}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        ) : null
      }
    >
      <Loadable query={query} skeleton={<Skeleton rows={8} />}>
        {() =>
          resources.length === 0 ? (
            empty
          ) : (
            <>
              <List
                key={search}
                capsule={capsule}
                resources={resources}
                hasMore={hasNextPage}
                onEnd={() => (isFetchingNextPage || isFetchNextPageError ? undefined : void fetchNextPage())}
              />
              {isFetchNextPageError ? <MorePages query={query} /> : null}
            </>
          )
        }
      </Loadable>
    </Panel>
  )
}
