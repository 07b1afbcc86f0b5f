import { Effect } from "effect"
import { type PrunePhase, pruneBesideTraffic } from "../actors/ledger/run/support/PruneBesideTraffic.ts"
import { type Figure, median, percentile } from "./support/Figures.ts"

const size = { runs: 5000, lines: 1_000_000 }

const titles: Readonly<Record<Exclude<PrunePhase["of"], "alone">, string>> = {
  logs: "old logs",
  records: "old Runs and their events",
  history: "the old operation history"
}

const longest = (waits: ReadonlyArray<number>) => waits.reduce((most, wait) => Math.max(most, wait), 0)

/** Measures how long a writer waits while several years of records are removed. */
export const pruning = Effect.gen(function* () {
  const { phases } = yield* pruneBesideTraffic(size)
  const alone = phases.find(({ of }) => of === "alone")?.waits ?? []
  return phases.flatMap(
    ({ of, waits }): ReadonlyArray<Figure> =>
      of === "alone"
        ? []
        : [
            {
              name: `longest commit beside the removal of ${titles[of]}`,
              figure: longest(waits),
              unit: "ms",
              target: { atMost: 50 },
              detail: `median ${median(waits).toFixed(1)} ms, 99th percentile ${percentile(waits, 0.99).toFixed(1)} ms, longest without it ${longest(alone).toFixed(1)} ms; ${size.lines} lines of ${size.runs} Runs`
            }
          ]
  )
})
