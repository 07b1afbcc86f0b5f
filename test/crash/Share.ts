import { Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/** The short form takes one share of all cases, out of this many; cases outside the shares always run. */
export const shareCount = 7

/**
 * Every `shareCount`th from the `share`th on, so that each share holds some of every kind; each case belongs to exactly
 * one.
 */
export const shareOf = <A>(all: ReadonlyArray<A>, share: number): ReadonlyArray<A> =>
  all.filter((_, index) => index % shareCount === share % shareCount)

/** The share of this commit. A few commits cover all of them, and the same commit always takes the same one. */
export const shareOfCommit = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const commit = yield* spawner.string(ChildProcess.make("git", ["rev-parse", "HEAD"]))
  return Number.parseInt(commit.slice(0, 12), 16) % shareCount
}).pipe(
  // A copy without history takes the first one.
  Effect.filterOrElse(Number.isSafeInteger, () => Effect.succeed(0)),
  Effect.orElseSucceed(() => 0)
)
