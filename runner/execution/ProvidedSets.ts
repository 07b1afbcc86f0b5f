import { Effect } from "effect"
import type { ProvidedSet } from "./ProvidedCredentials.ts"
import type { RunJob } from "./RunJob.ts"
import { RunPlace } from "./RunPlace.ts"
import { runnerFailure } from "./RunnerFailure.ts"

/** The credentials that a job expects this machine to supply, by name, each read once. */
export const providedSets = Effect.fnUntraced(function* ({ credentials }: Pick<RunJob, "credentials">) {
  const place = yield* RunPlace
  const sets = new Map<string, ProvidedSet>()
  for (const { provided } of credentials) {
    if (provided === undefined || sets.has(provided)) continue
    const set = yield* place
      .provided(provided)
      .pipe(Effect.mapError(({ message }) => runnerFailure("prepare_failed", "prepare", message)))
    sets.set(provided, set)
  }
  return sets
})
