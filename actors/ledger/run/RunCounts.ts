import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { mostCounted, type RunFacets } from "../../../schema/api/RunQueries.ts"
import { CapsuleId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { RunStatus, RunTrigger, RunType } from "../../../schema/records/Run.ts"
import { rowShape, type RowOf } from "../../base/database/Table.ts"
import { countedConditions, type RunFilter } from "./RunFilter.ts"

const AlikeRuns = rowShape({
  type: RunType,
  status: RunStatus,
  trigger_kind: RunTrigger,
  created_by: Schema.NullOr(Schema.String),
  capsule_id: Schema.NullOr(CapsuleId),
  runs: Schema.Int
})

/** The number of Runs that share one combination of facet values. */
export type AlikeRuns = RowOf<typeof AlikeRuns.columns>

const mostNamed = 100

const facets = {
  type: (alike: AlikeRuns) => alike.type,
  status: (alike: AlikeRuns) => alike.status,
  trigger: (alike: AlikeRuns) => alike.trigger_kind,
  actor: (alike: AlikeRuns) => alike.created_by,
  capsule: (alike: AlikeRuns) => alike.capsule_id
}
type Facet = keyof typeof facets

const isChosen = (filter: RunFilter, facet: Facet, alike: AlikeRuns): boolean => {
  switch (facet) {
    case "type":
      return filter.type?.includes(alike.type) ?? true
    case "status":
      return filter.status?.includes(alike.status) ?? true
    case "trigger":
      return filter.trigger?.includes(alike.trigger_kind) ?? true
    case "actor":
      return filter.actor === undefined || filter.actor === alike.created_by
    case "capsule":
      return filter.capsuleId === undefined || filter.capsuleId === alike.capsule_id
  }
}

const facetNames: ReadonlyArray<Facet> = ["type", "status", "trigger", "actor", "capsule"]

/** Counts the Runs for each value of each facet. The counts of a facet ignore the filter on that facet. */
export const facetsOf = (counted: ReadonlyArray<AlikeRuns>, filter: RunFilter): RunFacets => {
  const countsOf = <A extends string>(facet: Facet, valueOf: (alike: AlikeRuns) => A | null) => {
    const others = facetNames.filter((name) => name !== facet)
    const counts = new Map<A, number>()
    for (const alike of counted) {
      const value = valueOf(alike)
      if (value === null || !others.every((name) => isChosen(filter, name, alike))) continue
      counts.set(value, (counts.get(value) ?? 0) + alike.runs)
    }
    return [...counts]
      .map(([value, count]) => ({ value, count }))
      .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
      .slice(0, mostNamed)
  }
  const sum = (rows: ReadonlyArray<AlikeRuns>) => rows.reduce((total, { runs }) => total + runs, 0)
  return {
    type: countsOf("type", facets.type),
    status: countsOf("status", facets.status),
    trigger: countsOf("trigger", facets.trigger),
    actor: countsOf("actor", facets.actor),
    capsule: countsOf("capsule", facets.capsule),
    total: sum(counted.filter((alike) => facetNames.every((name) => isChosen(filter, name, alike)))),
    complete: sum(counted) < mostCounted
  }
}

/** Counts the newest Runs with one statement, which reads only the list's index. */
export const countRuns = Effect.fn("Runs.count")(function* (
  sql: SqlClient.SqlClient,
  workspaceId: WorkspaceId,
  filter: RunFilter
) {
  const columns = "type, status, trigger_kind, created_by, capsule_id"
  const rows = yield* Effect.orDie(AlikeRuns.rows(sql)`SELECT ${sql.literal(columns)}, COUNT(*) AS runs
    FROM (SELECT ${sql.literal(columns)} FROM runs WHERE ${sql.and(countedConditions(sql, workspaceId, filter))}
      ORDER BY created_at DESC, id DESC LIMIT ${mostCounted}) AS newest
    GROUP BY ${sql.literal(columns)}`)
  return facetsOf(rows, filter)
})
