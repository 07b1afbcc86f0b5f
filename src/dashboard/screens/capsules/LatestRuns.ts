import { useQueries } from "@tanstack/react-query"
import { useMemo } from "react"
import { latestRunsQuery } from "../../api/Queries.ts"
import type { Capsule, LatestRun } from "../../api/Types.ts"

const blockSize = 100

type Answers = ReadonlyArray<{ readonly data: ReadonlyArray<LatestRun> | undefined }>

// A stable function, so that its result is kept as long as no response changes.
const answersOf = (answers: Answers) => answers.map(({ data }) => data)

/**
 * The newest Run of each visible Capsule: `null` for one that has never run, absent while unknown. They are requested in blocks
 * of the whole list, so that neither searching nor scrolling requests them again.
 */
export const useLatestRuns = (
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
  // The responses identify their blocks, except for Capsules that have never run.
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
