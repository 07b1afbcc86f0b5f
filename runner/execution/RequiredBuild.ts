import { Effect, Option } from "effect"
import type { BuildReference } from "./RunJob.ts"
import { RunPlace } from "./RunPlace.ts"
import { runnerFailure } from "./RunnerFailure.ts"

/** Returns the archive that a job needs, or `undefined` if it needs none. Fails if the archive no longer exists. */
export const requiredBuild = Effect.fnUntraced(function* (build: BuildReference | undefined) {
  if (build === undefined) return undefined
  const place = yield* RunPlace
  const found = yield* place.findBuild(build)
  if (Option.isSome(found)) return found.value
  return yield* runnerFailure(
    "prepare_failed",
    "prepare",
    "The source build of this plan no longer exists. Plan again."
  )
})
