import "../../app/Kit.ts"
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { capsulesQuery, runsQuery } from "../../api/Queries.ts"
import { AllPlansChoice, BulkBar, PlanChoice } from "../../app/BulkBar.tsx"
import { bulkPlanOf, useChosenPlans } from "../../app/BulkPlans.ts"
import { useRowKeys } from "../../app/RowKeys.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useDayName } from "../../ui/UseDayName.ts"
import { useWords } from "../../words/Words.ts"
import { isApply, linesByDay } from "./ChangeLines.ts"
import { ChangeRow, FoldedRows } from "./ChangeRow.tsx"
import { Facets } from "./Facets.tsx"
import { projectsQuery } from "./RunListQueries.ts"
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
