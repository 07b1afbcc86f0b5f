import { Effect, Option, Redacted } from "effect"
import { readState } from "../document/Documents.ts"
import { stateFileName } from "./ModuleOverride.ts"
import { type HeldFolder, type RunFileFailed, readOptional } from "./RunFiles.ts"
import type { StateProblem } from "./RunOutcome.ts"
import { continuationProblem, type StateFile } from "./StateFile.ts"
import { longestState } from "./StateWatch.ts"

/** The file that the tool writes if it cannot write its state. */
const emergencyFileName = "errored.tfstate"

type Base = Pick<StateFile, "lineage" | "serial">

/**
 * The state that an apply left behind.
 * - `found`: the newest complete state that continues the base; absent if no state was written
 * - `problem`, `rejected`: describe a file that does not continue the base
 */
export interface LeftState {
  readonly found: Option.Option<{ readonly bytes: Redacted.Redacted<Uint8Array>; readonly state: StateFile }>
  readonly problem: StateProblem | undefined
  readonly rejected: Redacted.Redacted<Uint8Array> | undefined
}

const ignoreUnreadable = (content: Effect.Effect<Option.Option<Uint8Array>, RunFileFailed>) =>
  content.pipe(
    Effect.map((bytes) => ({ bytes, unreadable: false })),
    Effect.catch((problem) =>
      Effect.as(Effect.logWarning(problem.message), { bytes: Option.none<Uint8Array>(), unreadable: true })
    )
  )

/**
 * Chooses the newest state. If several states are equally new, prefers them in this order: the state that the tool printed
 * because it could not write the state, the emergency file, the state file, and the last checkpoint.
 */
export const readLeftState = Effect.fnUntraced(function* (request: {
  readonly folder: HeldFolder
  readonly base: Base | undefined
  readonly checkpointPath: string
  readonly printed: ReadonlyArray<Uint8Array>
}): Effect.fn.Return<LeftState> {
  const files = yield* Effect.forEach(
    [
      request.folder.read(emergencyFileName, longestState),
      request.folder.read(stateFileName, longestState),
      readOptional(request.checkpointPath, "read the checkpoint of the state")
    ],
    ignoreUnreadable
  )
  // Ignore empty files: the tool creates a file before it writes to it, and a full disk also leaves an empty file.
  const written = files.map(({ bytes }) => Option.filter(bytes, ({ length }) => length > 0))
  const [emergency, ...own] = written
  const stoodIn = [...request.printed, ...(emergency === undefined ? [] : Option.toArray(emergency))]
  const contents = [...stoodIn, ...own.flatMap(Option.toArray)]
  const candidates = yield* Effect.forEach(contents, (bytes) =>
    Effect.map(readState(bytes), (state) => ({ bytes, state }))
  )

  let found: { readonly bytes: Uint8Array; readonly state: StateFile } | undefined
  let rejected: { readonly bytes: Uint8Array; readonly problem: StateProblem } | undefined
  for (const { bytes, state } of candidates) {
    const problem = Option.match(state, {
      onNone: (): StateProblem => "unreadable",
      onSome: (whole) => continuationProblem(request.base, whole)
    })
    if (Option.isNone(state) || problem !== undefined) {
      rejected ??= { bytes, problem: problem ?? "unreadable" }
    } else if (found === undefined || state.value.serial > found.state.serial) {
      found = { bytes, state: state.value }
    }
  }
  // A printed state or an emergency file takes precedence over the file that the tool could not write.
  const isReplaced = found !== undefined && stoodIn.includes(found.bytes)
  const isLost = files.some(({ bytes, unreadable }, index) => {
    const isEmpty = Option.isSome(bytes) && Option.isNone(written[index] ?? Option.none())
    return unreadable || (isEmpty && !isReplaced)
  })
  const unreadable = isLost ? ("unreadable" as const) : undefined
  return {
    found: Option.fromNullishOr(found).pipe(Option.map(({ bytes, state }) => ({ bytes: Redacted.make(bytes), state }))),
    problem: rejected?.problem ?? unreadable,
    rejected: rejected === undefined ? undefined : Redacted.make(rejected.bytes)
  }
})
