import { Effect } from "effect"
import { DatabaseFile, type FilePages } from "./DatabaseFile.ts"

/** Number of pages released in one transaction: moving more would delay writers. */
const pagesAtOnce = 64
/** The share of the file that may remain empty for the next writes. */
const slackShare = 0.1
/** Shrinking a file of a few MiB is not worth the work. */
const slackPages = 1024
/** Lets writers go first between two steps. */
const pause = "5 millis"
/** Number of steps per cleanup turn: some 25 MiB a minute. */
const stepsOfTurn = 100

/** Number of empty pages to release in the next step. */
export const pagesToRelease = ({ empty, total }: FilePages): number =>
  Math.max(0, Math.min(pagesAtOnce, empty - Math.max(slackPages, Math.floor(total * slackShare))))

/**
 * Shrinks the file after a lot of data has been deleted. Stops early if nothing is released, as happens with a file that has
 * never been converted.
 */
export const releaseEmptyPages = Effect.gen(function* () {
  const file = yield* DatabaseFile
  for (let steps = 0; steps < stepsOfTurn; steps++) {
    const before = yield* file.pages
    const count = pagesToRelease(before)
    if (count === 0) return
    yield* file.release(count)
    if ((yield* file.pages).total >= before.total) return
    yield* Effect.sleep(pause)
  }
}).pipe(Effect.withSpan("releaseEmptyPages"))
