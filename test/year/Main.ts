// `npm run test:year [-- --short] [-- --seed N]`: runs the service through a year of simulated time, with pushes, drift checks,
// updates, people and restarts. The database and folder must remain below the limit stated on the operations page.
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Effect, FileSystem, Random } from "effect"
import { parseArgs } from "node:util"
import { platform } from "../../src/composition/Platform.ts"
import { shortYear, wholeYear } from "./YearSize.ts"
import { liveThroughYear } from "./YearLife.ts"
import { yearClock } from "./YearClock.ts"

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { short: { type: "boolean", default: false }, seed: { type: "string", default: "1" } }
})

/**
 * A date far from today, so that the test detects the use of any other clock. The year that follows it contains a leap day.
 */
const begin = Date.UTC(2031, 6, 1, 8)

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-year-" })
  const time = yearClock(begin)
  yield* liveThroughYear(values.short ? shortYear : wholeYear, folder, time).pipe(
    Effect.provideService(Clock.Clock, time.clock),
    Random.withSeed(values.seed)
  )
}).pipe(Effect.scoped, Effect.provide(platform))

NodeRuntime.runMain(program)
