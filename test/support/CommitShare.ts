import { Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/**
 * Every `count`th case from the `share`th on, so that each share has some of every kind; each case belongs to exactly
 * one. The short form of a slow suite takes one share.
 */
export const shareOf = <A>(all: ReadonlyArray<A>, share: number, count: number): ReadonlyArray<A> =>
  all.filter((_, index) => index % count === share % count)

/** The share of this commit, below `count`. A few commits cover all of them, and the same commit always takes the same one. */
export const shareOfCommit = (count: number) =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const commit = yield* spawner.string(ChildProcess.make("git", ["rev-parse", "HEAD"]))
    return Number.parseInt(commit.slice(0, 12), 16) % count
  }).pipe(
    // A copy without history takes the first one.
    Effect.filterOrElse(Number.isSafeInteger, () => Effect.succeed(0)),
    Effect.orElseSucceed(() => 0)
  )
