import "../../app/Kit.ts"
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { capsulesQuery, runsQuery } from "../../api/Queries.ts"
import type { Capsule, RunFacets } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { AllPlansChoice, BulkBar, PlanChoice } from "../../app/BulkBar.tsx"
import { bulkPlanOf, useChosenPlans } from "../../app/BulkPlans.ts"
import { useRowKeys } from "../../app/RowKeys.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { PeriodFilter } from "../../ui/PeriodFilter.tsx"
import { useDayName } from "../../ui/UseDayName.ts"
import { integer } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { isApply, linesByDay } from "./ChangeLines.ts"
import { ChangeRow, FoldedRows } from "./ChangeRow.tsx"
import { runStatuses, runTriggers, runTypes } from "./RunChoices.ts"
import { projectsQuery, runFacetsQuery } from "./RunListQueries.ts"
import { runListWords } from "./RunListWords.ts"
import { filterOf, isFiltered, type RunSearch, showsChanges } from "./RunSearch.ts"

/** Avoids a request for every keystroke. */
const typingPauseMs = 250

/**
 * The search field keeps its text in local state. Waiting for the URL to change would interrupt the composition of Japanese
 * text. The field follows the URL if the URL changes for another reason, such as going back or clearing the filters.
 */
const useSearchText = (inAddress: string | undefined, change: (q: string | undefined) => void) => {
  const [typed, setTyped] = useState(inAddress ?? "")
  const sent = useRef(inAddress)
  const latest = useRef(change)
  useEffect(() => {
    latest.current = change
  })
  useEffect(() => {
    if (sent.current === inAddress) return
    sent.current = inAddress
    setTyped(inAddress ?? "")
  }, [inAddress])
  useEffect(() => {
    const wanted = typed.trim() === "" ? undefined : typed
    if (wanted === sent.current) return
    const timer = setTimeout(() => {
      sent.current = wanted
      latest.current(wanted)
    }, typingPauseMs)
    return () => clearTimeout(timer)
  }, [typed])
  return [typed, setTyped] as const
}

interface FacetsProps {
  readonly search: RunSearch
  readonly capsules: ReadonlyArray<Capsule>
  readonly onChange: (next: RunSearch) => void
}

type Counts = ReadonlyArray<{ readonly value: string; readonly count: number }>

const sumOf = (counts: Counts | undefined, values: string): number | undefined => {
  const chosen = values.split(",")
  return counts?.filter(({ value }) => chosen.includes(value)).reduce((sum, { count }) => sum + count, 0)
}

/** Returns a function that formats a number of Runs, with a plus sign if older Runs were not counted. */
const useCounts = (facets: RunFacets | undefined) => {
  const language = useLanguage()
  return (count: number | undefined): string | undefined =>
    count === undefined ? undefined : `${integer(language, count)}${facets?.complete === false ? "+" : ""}`
}

const activeStatuses = "queued,running"
const applyTypes = "apply,destroy_apply"

/** The list's filters. Each choice shows the number of Runs that the list would contain. */
const Facets = ({ search, capsules, onChange }: FacetsProps) => {
  const text = useWords(runListWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const { data: facets } = useQuery({
    ...runFacetsQuery(workspace.id, filterOf(search)),
    placeholderData: keepPreviousData
  })
  const written = useCounts(facets)
  const change = (next: Partial<RunSearch>) => onChange({ ...search, ...next })
  const chips: ReadonlyArray<readonly [string, "status" | "type", string]> = [
    [text.waiting, "status", "waiting_approval"],
    [text.active, "status", activeStatuses],
    [text.failed, "status", "failed"],
    [text.applies, "type", applyTypes],
    [text.drift, "type", "drift_check"]
  ]
  const named = (counts: Counts | undefined, value: string, name: string): readonly [string, string] => {
    const count = written(sumOf(counts, value))
    return [value, count === undefined ? name : `${name} (${count})`]
  }
  const found = (counts: Counts | undefined, chosen: string | undefined): ReadonlyArray<string> => [
    ...new Set([...(counts ?? []).map(({ value }) => value), ...(chosen === undefined ? [] : [chosen])])
  ]
  const capsuleNames = new Map(capsules.map(({ id, name, environment }) => [id, `${name} · ${environment}`]))
  const total = search.status === undefined && search.type === undefined ? written(facets?.total) : undefined
  return (
    <fieldset className="run-facets">
      <legend className="visually-hidden">{text.filters}</legend>
      <div className="run-chips">
        <button
          type="button"
          className="run-chip"
          aria-pressed={search.status === undefined && search.type === undefined}
          onClick={() => change({ status: undefined, type: undefined })}
        >
          {text.everything} {total === undefined ? null : <b>{total}</b>}
        </button>
        {chips.map(([name, facet, value]) => {
          const isOn = search[facet] === value
          const count = written(sumOf(facets?.[facet], value))
          return (
            <button
              key={name}
              type="button"
              className="run-chip"
              aria-pressed={isOn}
              onClick={() => change({ [facet]: isOn ? undefined : value })}
            >
              {name} {count === undefined ? null : <b>{count}</b>}
            </button>
          )
        })}
      </div>
      <div className="toolbar">
        <Filter
          label={text.status}
          value={search.status}
          options={[
            named(facets?.status, activeStatuses, text.queuedOrRunning),
            ...runStatuses.map((value) => named(facets?.status, value, terms.runStatus[value]))
          ]}
          onChange={(status) => change({ status })}
        />
        <Filter
          label={text.type}
          value={search.type}
          options={[
            named(facets?.type, applyTypes, text.allApplies),
            ...runTypes.map((value) => named(facets?.type, value, terms.runType[value]))
          ]}
          onChange={(type) => change({ type })}
        />
        <Filter
          label={text.capsule}
          value={search.capsule}
          options={found(facets?.capsule, search.capsule).map((id) =>
            named(facets?.capsule, id, capsuleNames.get(id) ?? id)
          )}
          onChange={(capsule) => change({ capsule })}
        />
        <Filter
          label={text.person}
          value={search.person}
          options={found(facets?.actor, search.person).map((subject) =>
            named(facets?.actor, subject, actorName(subject))
          )}
          onChange={(person) => change({ person })}
        />
        <Filter
          label={text.trigger}
          value={search.trigger}
          options={runTriggers.map((value) => named(facets?.trigger, value, terms.trigger[value]))}
          onChange={(trigger) => change({ trigger })}
        />
        <PeriodFilter from={search.from} until={search.until} onChange={change} />
        {isFiltered(search) ? (
          <Button tone="quiet" small icon="cross" onClick={() => onChange({})}>
            {text.clear}
          </Button>
        ) : null}
        {facets === undefined ? null : (
          <output className="count">{text.found(facets.total, written(facets.total) ?? "")}</output>
        )}
      </div>
    </fieldset>
  )
}

export const RunsScreen = () => {
  const text = useWords(runListWords)
  const workspace = useWorkspace()
  const { letterKeys } = usePreferences()
  const search = useSearch({ from: "/w/$workspace/runs" })
  const navigate = useNavigate({ from: "/w/$workspace/runs" })
  const go = (next: RunSearch, replace: boolean) => void navigate({ search: next, replace })
  const [typed, setTyped] = useSearchText(search.q, (q) => go({ ...search, q }, true))
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const projects = useQuery(projectsQuery(workspace.id)).data ?? []
  const byChanges = showsChanges(search)
  const query = useInfiniteQuery({
    ...runsQuery(workspace.id, { ...filterOf(search), ...(byChanges ? { view: "changes" } : {}) }),
    placeholderData: keepPreviousData
  })
  const capsuleOf = new Map(capsules.map((capsule) => [capsule.id, capsule]))
  const dayName = useDayName()
  const may = useMay()
  const listed = query.data?.pages.flatMap((page) => page.runs) ?? []
  const applied = new Set(
    query.data?.pages.flatMap(({ folded = [] }) => folded.filter(isApply).map((run) => run.planRunId))
  )
  const offered = listed.flatMap((run) =>
    may("member") && run.status === "waiting_approval" && !applied.has(run.id)
      ? (bulkPlanOf(run, capsuleOf.get(run.capsuleId ?? "")) ?? [])
      : []
  )
  const plans = useChosenPlans(offered)
  useRowKeys("[data-run-row]")
  const projectOf = new Map(projects.length > 1 ? projects.map(({ id, name }) => [id, name]) : [])
  return (
    <Page title={text.title} about={byChanges ? text.about : text.aboutFiltered}>
      <div className="run-filters">
        <input
          type="search"
          className="input"
          data-page-search
          aria-label={text.search}
          placeholder={text.search}
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Facets search={search} capsules={capsules} onChange={(next) => go(next, false)} />
      </div>
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={8} />}>
          {({ pages }) => {
            const runs = pages.flatMap((page) => page.runs)
            const days = linesByDay(
              runs,
              pages.flatMap(({ folded }) => folded ?? []),
              { foldsChecks: byChanges }
            )
            if (runs.length > 0) {
              return (
                <div className="run-days" aria-busy={query.isPlaceholderData}>
                  {offered.length > 1 ? (
                    <div className="run-choice">
                      <AllPlansChoice plans={plans} />
                    </div>
                  ) : null}
                  {days.map(({ day, lines }) => (
                    <section key={day}>
                      <h2 className="run-day">{dayName(day)}</h2>
                      <ul className={offered.length === 0 ? "rows" : "rows rows-choosable"}>
                        {lines.map((line) => {
                          if (line.kind === "checks") {
                            return (
                              <li key={line.runs[0]?.id}>
                                <details className="run-checks">
                                  <summary data-run-row>{text.cleanChecks(line.runs.length)}</summary>
                                  <FoldedRows
                                    runs={line.runs.map((run) => ({
                                      ...run,
                                      name: capsuleOf.get(run.capsuleId ?? "")?.name
                                    }))}
                                  />
                                </details>
                              </li>
                            )
                          }
                          const capsule = capsuleOf.get(line.run.capsuleId ?? "")
                          const plan = offered.find(({ runId }) => runId === line.run.id)
                          return (
                            <li key={line.run.id}>
                              {plan === undefined ? null : <PlanChoice plan={plan} plans={plans} />}
                              <ChangeRow
                                run={line.run}
                                apply={line.apply}
                                fed={line.fed}
                                capsule={capsule}
                                project={projectOf.get(capsule?.projectId ?? "")}
                              />
                            </li>
                          )
                        })}
                      </ul>
                    </section>
                  ))}
                </div>
              )
            }
            return isFiltered(search) ? (
              <Empty
                icon="search"
                title={text.noMatchTitle}
                action={<Button onClick={() => go({}, false)}>{text.clear}</Button>}
              >
                <p>{text.noMatchText}</p>
              </Empty>
            ) : (
              <Empty icon="run" title={text.emptyTitle}>
                <p>{text.emptyText}</p>
              </Empty>
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
      <BulkBar plans={plans} />
      {letterKeys ? (
        <p className="run-keys">
          <kbd>J</kbd> <kbd>K</kbd> {text.keyMove} · <kbd>Enter</kbd> {text.keyOpen} · <kbd>/</kbd> {text.keySearch}
        </p>
      ) : null}
    </Page>
  )
}
