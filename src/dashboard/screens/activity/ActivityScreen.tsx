import "../../app/Kit.ts"
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { auditExport, workspacesRuns } from "../../api/Endpoints.ts"
import { activityQuery, capsulesQuery, membersQuery } from "../../api/Queries.ts"
import type { AuditEvent, Run } from "../../api/Types.ts"
import { address } from "../../api/Url.ts"
import { actionWords } from "../../app/ActionWords.ts"
import { activityByDay } from "../../app/ActivityLines.ts"
import { ActivityRows } from "../../app/ActivityList.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { PeriodFilter } from "../../ui/PeriodFilter.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useDayName } from "../../ui/UseDayName.ts"
import { useWords } from "../../words/Words.ts"
import { activityFilter, type ActivitySearch } from "./ActivitySearch.ts"
import { call } from "../../api/Call.ts"
import { beginOfDay, dayOf } from "../../words/Days.ts"

const none: ReadonlyArray<Run> = []

/**
 * Loads at most a hundred Runs since the day of the oldest visible event, to show the effects of plans, and to recognise syncs
 * that found nothing new. If an event is about an older Run, these details are missing.
 */
const useActivityRuns = (events: ReadonlyArray<AuditEvent>): ReadonlyArray<Run> => {
  const workspace = useWorkspace()
  const oldest = events.at(-1)
  const since = oldest === undefined ? undefined : beginOfDay(dayOf(oldest.createdAt))
  const query = useQuery<ReadonlyArray<Run>>({
    queryKey: ["workspace", workspace.id, "activity-runs", since],
    queryFn: ({ signal }) =>
      call(workspacesRuns, {
        params: { workspaceId: workspace.id },
        query: { since: since ?? "", limit: "100" },
        signal
      }).then(({ runs }) => runs),
    enabled: since !== undefined && events.some(({ runId }) => runId !== undefined),
    placeholderData: keepPreviousData
  })
  return query.data ?? none
}

const words = {
  en: {
    title: "Activity",
    about: "All actions, newest first. Entries are never changed or removed, and never contain a secret or a value.",
    capsule: "Capsule",
    person: "Person",
    action: "Action",
    ofRun: "Of one run only",
    clear: "Clear filters",
    noneTitle: "Nothing matches these filters",
    noneText: "Other filters, or a longer time, may show more.",
    download: "Export as JSON lines",
    emptyTitle: "No activity yet",
    emptyText: "Every change that a person, a token or the service makes is recorded here."
  },
  ja: {
    title: "アクティビティ",
    about: "誰が何をしたかの記録です（新しい順）。追記のみで、秘密や値は含まれません。",
    capsule: "カプセル",
    person: "人",
    action: "操作",
    ofRun: "一つの実行のみ",
    clear: "絞り込みを解除",
    noneTitle: "条件に合う記録はありません",
    noneText: "条件や期間を変えると、見つかることがあります。",
    download: "JSON Lines でエクスポート",
    emptyTitle: "まだ記録はありません",
    emptyText: "人、トークン、サービスによる変更が、すべてここに記録されます。"
  }
}

/** Returns the options of a filter. If the address contains an unknown value, the options include it. */
const withChosen = (
  options: ReadonlyArray<readonly [string, string]>,
  chosen: string | undefined
): ReadonlyArray<readonly [string, string]> =>
  chosen === undefined || options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen]]

/**
 * Converts an action's sentence to the text of a select option: removes the subject's particle, the full stop and the code
 * marks.
 */
const optionText = (sentence: string): string =>
  sentence
    .replace(/^が、?/, "")
    .replace(/[.。]$/, "")
    .replaceAll("`", "")

const Filters = ({
  onChange,
  search
}: {
  readonly search: ActivitySearch
  readonly onChange: (search: ActivitySearch) => void
}) => {
  const text = useWords(words)
  const actions = useWords(actionWords)
  const workspace = useWorkspace()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const members = useQuery(membersQuery(workspace.id)).data ?? []
  const change = (next: ActivitySearch) => onChange({ ...search, ...next })
  return (
    <div className="toolbar">
      <Filter
        label={text.capsule}
        value={search.capsule}
        options={withChosen(
          capsules.map(({ environment, id, name }) => [id, `${name} · ${environment}`]),
          search.capsule
        )}
        onChange={(capsule) => change({ capsule })}
      />
      <Filter
        label={text.person}
        value={search.person}
        options={withChosen(
          members.map(({ displayName, email, subject }) => [subject, displayName ?? email ?? subject]),
          search.person
        )}
        onChange={(person) => change({ person })}
      />
      <Filter
        label={text.action}
        value={search.action}
        options={withChosen(
          Object.entries(actions)
            .filter(([name]) => name.includes("."))
            .map(([name, sentence]) => [name, optionText(sentence)] as const),
          search.action
        )}
        onChange={(action) => change({ action })}
      />
      <PeriodFilter from={search.from} until={search.until} onChange={change} />
      {search.run === undefined ? null : <span className="tag">{text.ofRun}</span>}
      {Object.keys(activityFilter(search)).length === 0 ? null : (
        <Button tone="quiet" small icon="cross" onClick={() => onChange({})}>
          {text.clear}
        </Button>
      )}
    </div>
  )
}

const Days = ({ events }: { readonly events: ReadonlyArray<AuditEvent> }) => {
  const dayName = useDayName()
  const runs = useActivityRuns(events)
  const known = new Map(runs.map((run) => [run.id, run]))
  return (
    <div className="run-days">
      {activityByDay(events, runs).map(({ day, lines }) => (
        <section key={day}>
          <h2 className="run-day">{dayName(day)}</h2>
          <ActivityRows lines={lines} runs={known} detailed />
        </section>
      ))}
    </div>
  )
}

export const ActivityScreen = () => {
  const text = useWords(words)
  const workspace = useWorkspace()
  const may = useMay()
  const search = useSearch({ from: "/w/$workspace/activity" })
  const navigate = useNavigate({ from: "/w/$workspace/activity" })
  const filter = activityFilter(search)
  const isFiltered = Object.keys(filter).length > 0
  const query = useInfiniteQuery({ ...activityQuery(workspace.id, filter), placeholderData: keepPreviousData })
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={
        may("owner") ? (
          <a
            className="button button-plain"
            href={address(auditExport, { params: { workspaceId: workspace.id }, query: filter })}
            download={`audit-${workspace.handle}.jsonl`}
          >
            {text.download}
          </a>
        ) : undefined
      }
    >
      <Filters search={search} onChange={(next) => void navigate({ search: next })} />
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={8} />}>
          {({ pages }) => {
            const events = pages.flatMap((page) => page.events)
            return events.length === 0 ? (
              <Empty icon="activity" title={isFiltered ? text.noneTitle : text.emptyTitle}>
                <p>{isFiltered ? text.noneText : text.emptyText}</p>
              </Empty>
            ) : (
              <Days events={events} />
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </Page>
  )
}
