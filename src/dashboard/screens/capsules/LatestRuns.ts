import { useQueries } from "@tanstack/react-query"
import { useMemo } from "react"
import { latestRunsQuery } from "../../api/Queries.ts"
import type { Capsule, LatestRun } from "../../api/Types.ts"

const blockSize = 100

/**
 * The newest Run of each Capsule in sight. They are asked for by blocks of the whole list, so that neither a search nor a
 * scroll asks again for what is known.
 */
export const useLatestRuns = (
  workspaceId: string,
  all: ReadonlyArray<Capsule>,
  inSight: ReadonlyArray<Capsule>
): ReadonlyMap<string, LatestRun> => {
  const blockOf = useMemo(() => new Map(all.map(({ id }, index) => [id, Math.floor(index / blockSize)])), [all])
  const blocks = [...new Set(inSight.flatMap(({ id }) => blockOf.get(id) ?? []))].toSorted((one, other) => one - other)
  return useQueries({
    queries: blocks.map((block) =>
      latestRunsQuery(
        workspaceId,
        all.slice(block * blockSize, (block + 1) * blockSize).map(({ id }) => id)
      )
    ),
    combine: byCapsule
  })
}

// One function for good: its result is kept as long as no answer changed.
const byCapsule = (
  answers: ReadonlyArray<{ readonly data: ReadonlyArray<LatestRun> | undefined }>
): ReadonlyMap<string, LatestRun> =>
  new Map(answers.flatMap(({ data }) => data ?? []).map((run) => [run.capsuleId, run]))
