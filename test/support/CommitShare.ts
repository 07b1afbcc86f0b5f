import { Effect } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/**
 * Selects every `count`th case, starting at the `share`th, so that each share includes every kind of case. Each case belongs
 * to exactly one share. The short form of a slow suite runs one share.
 */
export const shareOf = <A>(all: ReadonlyArray<A>, share: number, count: number): ReadonlyArray<A> =>
  all.filter((_, index) => index % count === share % count)

/**
 * Returns this commit's share, below `count`. The same commit always gets the same share, and a few commits cover all
 * shares.
 */
export const shareOfCommit = (count: number) =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const commit = yield* spawner.string(ChildProcess.make("git", ["rev-parse", "HEAD"]))
    return Number.parseInt(commit.slice(0, 12), 16) % count
  }).pipe(
    // A checkout without history uses the first share.
    Effect.filterOrElse(Number.isSafeInteger, () => Effect.succeed(0)),
    Effect.orElseSucceed(() => 0)
  )
