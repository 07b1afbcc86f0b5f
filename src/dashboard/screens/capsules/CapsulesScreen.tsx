import { capsuleStatuses, isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import "../../app/Kit.ts"
import { useQueries, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { memo, useDeferredValue, useMemo, useRef, useState } from "react"
import { capsulesQuery, latestRunsQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Capsule, LatestRun, Source } from "../../api/Types.ts"
import { matching, searchable } from "../../app/Matching.ts"
import { appWords } from "../../app/Words.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { CapsuleStatus, DriftStatus, RunStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { repositoryName, shortCommit } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { capsuleListWords } from "./Words.ts"

const drifts: ReadonlyArray<Capsule["driftStatus"]> = ["unknown", "none", "drifted"]

const blockSize = 100

type Answers = ReadonlyArray<{ readonly data: ReadonlyArray<LatestRun> | undefined }>

// Defined outside the component, so that the query reuses the combined result until a response changes.
const answersOf = (answers: Answers) => answers.map(({ data }) => data)

/**
 * The newest Run of each visible Capsule: `null` if the Capsule has never run, and absent while unknown. The Runs are
 * requested for fixed blocks of the full, unfiltered list, so that searching and scrolling do not request them again.
 */
const useLatestRuns = (
  workspaceId: string,
  all: ReadonlyArray<Capsule>,
  inSight: ReadonlyArray<Capsule>
): ReadonlyMap<string, LatestRun | null> => {
  const blocks = useMemo(
    () =>
      Array.from({ length: Math.ceil(all.length / blockSize) }, (_, block) =>
        all.slice(block * blockSize, (block + 1) * blockSize).map(({ id }) => id)
      ),
    [all]
  )
  const blockOf = useMemo(() => new Map(blocks.flatMap((ids, block) => ids.map((id) => [id, block]))), [blocks])
  const wanted = [...new Set(inSight.flatMap(({ id }) => blockOf.get(id) ?? []))].toSorted((one, other) => one - other)
  const answers = useQueries({
    queries: wanted.map((block) => latestRunsQuery(workspaceId, blocks[block] ?? [])),
    combine: answersOf
  })
  // The key contains the block numbers, because a response without Runs does not show which block was requested.
  const key = wanted.join(",")
  return useMemo(() => {
    const known = new Map<string, LatestRun | null>()
    for (const [index, block] of key.split(",").entries()) {
      const runs = answers[index]
      if (runs === undefined) continue
      for (const id of blocks[Number(block)] ?? []) known.set(id, null)
      for (const run of runs) known.set(run.capsuleId, run)
    }
    return known
  }, [answers, blocks, key])
}

const rowHeight = 57

interface RowProps {
  readonly capsule: Capsule
  readonly source: Source | undefined
  /** `null` if the Capsule has never run, and `undefined` while unknown. */
  readonly last: LatestRun | null | undefined
}

const Row = memo(({ capsule, source, last }: RowProps) => {
  const terms = useWords(vocabulary)
  const text = useWords(capsuleListWords)
  const workspace = useWorkspace()
  return (
    <Link
      to="/w/$workspace/capsules/$capsuleId"
      params={{ workspace: workspace.handle, capsuleId: capsule.id }}
      className="row row-table"
    >
      <span className="row-name row-stack">
        <span>
          <strong>{capsule.name}</strong> <span className="tag">{capsule.environment}</span>
        </span>
        <span className="muted row-source">
          {source === undefined ? "" : repositoryName(source.url)}
          {capsule.modulePath === "." ? "" : ` · ${capsule.modulePath}`}
        </span>
      </span>
      <CapsuleStatus status={capsule.status} />
      <span className="row-drift">
        {isEnded(capsule.status) || capsule.status === "pending" ? null : <DriftStatus status={capsule.driftStatus} />}
      </span>
      <span className="row-commit">
        {capsule.adoptedSourceRevision === undefined ? null : (
          <code>{shortCommit(capsule.adoptedSourceRevision.resolvedCommit)}</code>
        )}
      </span>
      <span className="row-who row-last">
        {last === undefined ? null : last === null ? (
          <span>{text.never}</span>
        ) : (
          <>
            <RunStatus run={last} />
            <span>
              {terms.runType[last.type]} · <Time at={last.createdAt} />
            </span>
          </>
        )}
      </span>
    </Link>
  )
})

interface CapsuleListProps {
  /** Every Capsule of the Workspace in the server's order. */
  readonly all: ReadonlyArray<Capsule>
  readonly capsules: ReadonlyArray<Capsule>
  readonly sources: ReadonlyMap<string, Source>
}

/** Renders only the visible rows, so a search in a thousand Capsules is as fast as in ten. */
const CapsuleList = ({ all, capsules, sources }: CapsuleListProps) => {
  const text = useWords(capsuleListWords)
  const workspace = useWorkspace()
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoised by a compiler
  const virtual = useVirtualizer({
    count: capsules.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8
  })
  const rows = virtual.getVirtualItems().flatMap(({ index, start }) => {
    const capsule = capsules[index]
    return capsule === undefined ? [] : [{ capsule, index, start }]
  })
  const latest = useLatestRuns(
    workspace.id,
    all,
    rows.map(({ capsule }) => capsule)
  )
  return (
    <>
      <div className="row row-table row-head" aria-hidden="true">
        <span>{text.name}</span>
        <span>{text.status}</span>
        <span className="row-drift">{text.drift}</span>
        <span className="row-commit">{text.revision}</span>
        <span className="row-who">{text.last}</span>
      </div>
      <div ref={scroller} className="long-list">
        <ul className="rows" style={{ height: `${virtual.getTotalSize()}px` }}>
          {rows.map(({ capsule, index, start }) => (
            <li
              key={capsule.id}
              className="long-row"
              aria-setsize={capsules.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row capsule={capsule} source={sources.get(capsule.sourceId)} last={latest.get(capsule.id)} />
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

export const CapsulesScreen = () => {
  const text = useWords(capsuleListWords)
  const terms = useWords(vocabulary)
  const app = useWords(appWords)
  const workspace = useWorkspace()
  const search = useSearch({ from: "/w/$workspace/capsules" })
  const navigate = useNavigate({ from: "/w/$workspace/capsules" })
  const query = useQuery(capsulesQuery(workspace.id))
  const { data: sourceList } = useQuery(sourcesQuery(workspace.id))
  const sources = useMemo(() => new Map((sourceList ?? []).map((source) => [source.id, source])), [sourceList])
  // The field stores its own text instead of reading it from the URL, because waiting for the URL to change would interrupt
  // Japanese text input.
  const [input, setInput] = useState(search.q ?? "")
  const typed = useDeferredValue(input)
  const wanted = useMemo(
    () =>
      searchable(
        (query.data ?? []).filter(
          (capsule) =>
            (search.status === undefined ? !isEnded(capsule.status) : capsule.status === search.status) &&
            (search.drift === undefined || capsule.driftStatus === search.drift)
        ),
        (capsule) =>
          `${capsule.name} ${capsule.environment} ${capsule.modulePath} ${sources.get(capsule.sourceId)?.url ?? ""}`
      ),
    [query.data, search.status, search.drift, sources]
  )
  const shown = useMemo(() => matching(wanted, typed), [wanted, typed])
  const filtered = search.q !== undefined || search.status !== undefined || search.drift !== undefined
  const change = (next: Partial<typeof search>) => void navigate({ search: { ...search, ...next }, replace: true })
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={
        <LinkButton tone="primary" icon="plus" to="/new">
          {app.install}
        </LinkButton>
      }
    >
      <div className="toolbar">
        <input
          type="search"
          className="input toolbar-search"
          data-page-search
          aria-label={text.search}
          placeholder={text.search}
          value={input}
          onChange={(event) => {
            setInput(event.target.value)
            change({ q: event.target.value === "" ? undefined : event.target.value })
          }}
        />
        <Filter
          label={text.status}
          value={search.status}
          options={capsuleStatuses.map((status) => [status, terms.capsuleStatus[status]])}
          onChange={(status) => change({ status })}
        />
        <Filter
          label={text.drift}
          value={search.drift}
          options={drifts.map((drift) => [drift, terms.drift[drift]])}
          onChange={(drift) => change({ drift })}
        />
        {query.data === undefined ? null : <output className="count">{text.found(shown.length)}</output>}
      </div>
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={8} />}>
          {() =>
            shown.length === 0 ? (
              <Empty
                icon="capsule"
                title={text.emptyTitle}
                action={
                  filtered ? undefined : (
                    <LinkButton tone="primary" icon="plus" to="/new">
                      {app.install}
                    </LinkButton>
                  )
                }
              >
                <p>{filtered ? text.emptyFiltered : text.emptyText}</p>
              </Empty>
            ) : (
              <CapsuleList all={query.data ?? []} capsules={shown} sources={sources} />
            )
          }
        </Loadable>
      </Panel>
    </Page>
  )
}
