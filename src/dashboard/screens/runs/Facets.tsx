import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { runFacetsQuery } from "./RunListQueries.ts"
import type { Capsule, RunFacets } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { PeriodFilter } from "../../ui/PeriodFilter.tsx"
import { integer } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { runStatuses, runTriggers, runTypes } from "./RunChoices.ts"
import { runListWords } from "./RunListWords.ts"
import { filterOf, isFiltered, type RunSearch } from "./RunSearch.ts"

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
export const Facets = ({ search, capsules, onChange }: FacetsProps) => {
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
