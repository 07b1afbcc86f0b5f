import { Effect } from "effect"
import { DatabaseFile, type FilePages } from "./DatabaseFile.ts"

/** Number of pages to release per transaction. Releasing more pages at once would delay writers. */
const pagesAtOnce = 64
/** Fraction of the file that may remain empty, so that later writes can use it. */
const slackShare = 0.1
/** Minimum number of pages to release. Gaining less space than this (a few MiB) is not worth the work. */
const slackPages = 1024
/** Pause between steps, to let other writers in. */
const pause = "5 millis"
/** Maximum number of steps per turn of the cleanup: about 25 MiB per minute. */
const stepsOfTurn = 100

/** Returns the number of empty pages to release in the next step. */
export const pagesToRelease = ({ empty, total }: FilePages): number =>
  Math.max(0, Math.min(pagesAtOnce, empty - Math.max(slackPages, Math.floor(total * slackShare))))

/**
 * Shrinks the file after large deletions. Stops early if nothing is released, for example because the file has never been
 * rebuilt.
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
