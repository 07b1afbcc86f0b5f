import "../../app/Kit.ts"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useDeferredValue, useMemo, useRef, useState } from "react"
import { capsulesQuery, runsQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Capsule, Run, Source } from "../../api/Types.ts"
import { matching } from "../../app/Matching.ts"
import { appWords } from "../../app/Words.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { CapsuleStatus, DriftStatus, RunStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { repositoryName, shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"

const words = {
  en: {
    title: "Capsules",
    about: "Each capsule is one deployed instance of one module.",
    search: "Search name, environment, module or source",
    status: "Status",
    drift: "Drift",
    revision: "Revision",
    last: "Last run",
    name: "Name",
    found: (count: number) => (count === 1 ? "1 capsule" : `${count} capsules`),
    emptyTitle: "No capsules yet",
    emptyText: "Install a module from a Git repository. You see its plan before anything is changed.",
    emptyFiltered: "No capsule matches."
  },
  ja: {
    title: "カプセル",
    about: "カプセルは、1 つのモジュールをデプロイした 1 つの実体です。",
    search: "名前、環境、モジュール、ソースを検索",
    status: "状態",
    drift: "ドリフト",
    revision: "リビジョン",
    last: "最新の実行",
    name: "名前",
    found: (count: number) => `${count} 件`,
    emptyTitle: "カプセルはまだありません",
    emptyText: "Git リポジトリからモジュールをインストールしてください。変更の前に、必ずプランを確認できます。",
    emptyFiltered: "一致するカプセルはありません。"
  }
}

const statuses: ReadonlyArray<Capsule["status"]> = ["pending", "active", "stale", "error", "disabled", "destroyed"]
const drifts: ReadonlyArray<Capsule["driftStatus"]> = ["unknown", "none", "drifted"]
const rowHeight = 57

/** The newest Run of each Capsule, as far as the newest page of Runs reaches. */
const useLastRuns = (): ReadonlyMap<string, Run> => {
  const workspace = useWorkspace()
  const { data } = useInfiniteQuery(runsQuery(workspace.id))
  return useMemo(() => {
    const last = new Map<string, Run>()
    for (const run of data?.pages.flatMap(({ runs }) => runs) ?? []) {
      if (run.capsuleId !== undefined && !last.has(run.capsuleId)) last.set(run.capsuleId, run)
    }
    return last
  }, [data])
}

interface RowProps {
  readonly capsule: Capsule
  readonly source: Source | undefined
  readonly last: Run | undefined
}

const Row = ({ capsule, source, last }: RowProps) => {
  const terms = useWords(vocabulary)
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
        {capsule.status === "destroyed" || capsule.status === "pending" ? null : (
          <DriftStatus status={capsule.driftStatus} />
        )}
      </span>
      <span className="row-commit">
        {capsule.adoptedSourceRevision === undefined ? null : (
          <code>{shortCommit(capsule.adoptedSourceRevision.resolvedCommit)}</code>
        )}
      </span>
      <span className="row-who row-last">
        {last === undefined ? null : <RunStatus run={last} />}
        <span>
          {last === undefined ? "" : `${terms.runType[last.type]} · `}
          <Time at={last?.createdAt ?? capsule.updatedAt} />
        </span>
      </span>
    </Link>
  )
}

/** Only the rows in sight are in the page, so a thousand Capsules search as fast as ten. */
const List = ({
  capsules,
  sources
}: {
  readonly capsules: ReadonlyArray<Capsule>
  readonly sources: ReadonlyMap<string, Source>
}) => {
  const text = useWords(words)
  const lastRuns = useLastRuns()
  const scroller = useRef<HTMLDivElement>(null)
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoised by a compiler
  const virtual = useVirtualizer({
    count: capsules.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8
  })
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
          {virtual.getVirtualItems().map((item) => {
            const capsule = capsules[item.index]
            return capsule === undefined ? null : (
              <li
                key={capsule.id}
                className="long-row"
                aria-setsize={capsules.length}
                aria-posinset={item.index + 1}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <Row capsule={capsule} source={sources.get(capsule.sourceId)} last={lastRuns.get(capsule.id)} />
              </li>
            )
          })}
        </ul>
      </div>
    </>
  )
}

export const CapsulesScreen = () => {
  const text = useWords(words)
  const terms = useWords(vocabulary)
  const app = useWords(appWords)
  const workspace = useWorkspace()
  const search = useSearch({ from: "/w/$workspace/capsules" })
  const navigate = useNavigate({ from: "/w/$workspace/capsules" })
  const query = useQuery(capsulesQuery(workspace.id))
  const { data: sourceList } = useQuery(sourcesQuery(workspace.id))
  const sources = useMemo(() => new Map((sourceList ?? []).map((source) => [source.id, source])), [sourceList])
  // The input keeps its own text: one that waits for the address would break a Japanese input method mid-word.
  const [input, setInput] = useState(search.q ?? "")
  const typed = useDeferredValue(input)
  const shown = useMemo(
    () =>
      matching(
        (query.data ?? []).filter(
          (capsule) =>
            (search.status === undefined ? capsule.status !== "destroyed" : capsule.status === search.status) &&
            (search.drift === undefined || capsule.driftStatus === search.drift)
        ),
        typed,
        (capsule) =>
          `${capsule.name} ${capsule.environment} ${capsule.modulePath} ${sources.get(capsule.sourceId)?.url ?? ""}`
      ),
    [query.data, search.status, search.drift, typed, sources]
  )
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
          options={statuses.map((status) => [status, terms.capsuleStatus[status]])}
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
              <List capsules={shown} sources={sources} />
            )
          }
        </Loadable>
      </Panel>
    </Page>
  )
}
