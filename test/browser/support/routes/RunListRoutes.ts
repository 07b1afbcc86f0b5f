import type { FoldedRun, Run } from "../../../../src/dashboard/api/Types.ts"
import { type Answer, ok } from "./Answer.ts"
import type { World } from "./World.ts"

const facets = {
  type: (run: Run) => run.type,
  status: (run: Run) => run.status,
  trigger: (run: Run) => run.trigger,
  actor: (run: Run) => run.createdBy,
  capsule: (run: Run) => run.capsuleId
}
type Facet = keyof typeof facets
const parameter: Readonly<Record<Facet, string>> = {
  type: "type",
  status: "status",
  trigger: "trigger",
  actor: "actor",
  capsule: "capsuleId"
}
const facetNames: ReadonlyArray<Facet> = ["type", "status", "trigger", "actor", "capsule"]

const isCounted = (world: World, run: Run, query: URLSearchParams): boolean => {
  const capsule = world.capsules.find(({ id }) => id === run.capsuleId)
  const text = [capsule?.name, capsule?.environment, run.commitDescription?.title].join(" ").toLowerCase()
  const words = (query.get("search") ?? "").toLowerCase().split(" ")
  const ids = [run.id, run.capsuleId, run.sourceId, run.sourceSnapshotId, run.resolvedCommit]
  return (
    words.every((word) => text.includes(word) || (word.length > 3 && ids.some((id) => id?.startsWith(word)))) &&
    run.createdAt >= (query.get("since") ?? "") &&
    run.createdAt < (query.get("until") ?? "9")
  )
}

const isChosen = (run: Run, facet: Facet, query: URLSearchParams): boolean =>
  query
    .get(parameter[facet])
    ?.split(",")
    .includes(facets[facet](run) ?? "") ?? true

export const runFacetCounts = (world: World, query: URLSearchParams): Answer => {
  const runs = (world.empty ? [] : world.runs).filter((run) => isCounted(world, run, query))
  const counts = (facet: Facet) => {
    const values = runs
      .filter((run) => facetNames.every((name) => name === facet || isChosen(run, name, query)))
      .flatMap((run) => facets[facet](run) ?? [])
    return [...new Set(values)].map((value) => ({ value, count: values.filter((each) => each === value).length }))
  }
  const total = runs.filter((run) => facetNames.every((name) => isChosen(run, name, query))).length
  const counted = Object.fromEntries(facetNames.map((facet) => [facet, counts(facet)]))
  return ok({ facets: { ...counted, total, complete: true } })
}

const folds = (plan: Run, run: Run): boolean =>
  plan.type === "plan" &&
  (run.planRunId === plan.id || (run.type === "source_sync" && run.sourceSnapshotId === plan.sourceSnapshotId))

export const runList = (world: World, query: URLSearchParams): Answer => {
  const runs = (world.empty ? [] : world.runs)
    .filter((run) => isCounted(world, run, query) && facetNames.every((facet) => isChosen(run, facet, query)))
    .toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1))
  if (query.get("view") !== "changes") return ok({ runs })
  const changes = runs.filter((run) => !world.runs.some((plan) => folds(plan, run)))
  const folded = changes.flatMap((plan) =>
    world.runs
      .filter((run) => folds(plan, run))
      .map(
        ({ createdAt, id, status, trigger, type }): FoldedRun => ({
          planRunId: plan.id,
          id,
          type,
          status,
          trigger,
          createdAt
        })
      )
  )
  return ok({ runs: changes, folded })
}
