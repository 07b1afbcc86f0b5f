import { expect } from "bun:test"
import { Console, Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { pruneBesideTraffic } from "./support/PruneBesideTraffic.ts"

// `npm run test:prune` sets the full size.
const runs = Number(process.env["SVC_PRUNE_RUNS"] ?? 2000)
const lines = Number(process.env["SVC_PRUNE_LINES"] ?? 100_000)
const fullFormMillis = 3_600_000
const waiting = Math.ceil(runs / 100)

it.live(
  `the logs of ${runs} Runs with ${lines} lines go beside a writer that loses nothing`,
  () =>
    Effect.gen(function* () {
      const { logged, removed, surveyed, waits, waitsAlone, writes } = yield* pruneBesideTraffic({ runs, lines })
      if (runs > 10_000) yield* Console.log(`${waits.length} commits beside it, the longest ${Math.max(...waits)} ms`)
      expect(removed).toEqual(surveyed)
      expect(removed.reduce((sum, each) => sum + each.runs, 0)).toBe(runs - waiting)
      // Only plans that wait for their approval.
      expect(logged).toBe(waiting)
      expect(waits.length).toBeGreaterThan(10)
      // The one that was interrupted last may be written too.
      expect((writes ?? 0) - waits.length - waitsAlone.length).toBeWithin(0, 3)
    }),
  runs > 10_000 ? fullFormMillis : undefined
)
