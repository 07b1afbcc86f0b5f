import { Effect } from "effect"
import { pruneBesideTraffic } from "../actors/run/support/PruneBesideTraffic.ts"
import { type Figure, median, percentile } from "./support/Figures.ts"

const size = { runs: 5000, lines: 1_000_000 }

/** How long a writer waits while the logs of months are removed. */
export const pruning = Effect.gen(function* () {
  const { millis, waits, waitsAlone } = yield* pruneBesideTraffic(size)
  const figure: Figure = {
    name: "longest commit beside the removal of old logs",
    figure: Math.max(...waits),
    unit: "ms",
    target: { atMost: 50 },
    detail: `median ${median(waits).toFixed(1)} ms, 99th percentile ${percentile(waits, 0.99).toFixed(1)} ms, longest without it ${Math.max(...waitsAlone).toFixed(1)} ms; ${size.lines} lines of ${size.runs} Runs in ${(millis / 1000).toFixed(1)} s`
  }
  return [figure]
})
