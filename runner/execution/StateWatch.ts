import { Effect, Option, Redacted, Ref, Schedule, type Scope } from "effect"
import { readState } from "../document/Documents.ts"
import { stateFileName } from "./ModuleOverride.ts"
import { type HeldFolder, replaceDurably } from "./RunFiles.ts"
import type { RunSink } from "./RunSink.ts"
import { continuationProblem, type StateFile } from "./StateFile.ts"

export const longestState = 512 * 1024 * 1024

const interval = "200 millis"

export interface WatchRequest {
  readonly folder: HeldFolder
  readonly base: StateFile | undefined
  readonly baseBytes: Uint8Array | undefined
  readonly checkpointPath: string
  readonly sink: RunSink
  /** Called with each complete state before it is stored. */
  readonly onState: (state: StateFile) => Effect.Effect<void>
}

const equalBytes = (left: Uint8Array, right: Uint8Array) =>
  left.byteLength === right.byteLength && left.every((byte, index) => byte === right[index])

/**
 * Watches the state file while a tool writes it, until the scope closes. Copies each complete state that continues the base to a
 * durable file in the run folder, and passes it to the sink. Skips an incomplete state; the next poll will find it complete.
 */
export const watchState = Effect.fnUntraced(function* (
  request: WatchRequest
): Effect.fn.Return<void, never, Scope.Scope> {
  const { folder, base, sink } = request
  const seen = yield* Ref.make<{ readonly version: string | undefined; readonly bytes: Uint8Array | undefined }>({
    version: yield* folder.version(stateFileName),
    bytes: request.baseBytes
  })

  const look = Effect.gen(function* () {
    const version = yield* folder.version(stateFileName)
    const last = yield* Ref.get(seen)
    if (version === undefined || version === last.version) return
    const content = yield* folder.read(stateFileName, longestState)
    if (Option.isNone(content)) return
    const state = yield* readState(content.value)
    if (Option.isNone(state) || continuationProblem(base, state.value) !== undefined) return
    yield* Ref.set(seen, { version, bytes: content.value })
    yield* request.onState(state.value)
    if (last.bytes !== undefined && equalBytes(last.bytes, content.value)) return
    yield* replaceDurably(request.checkpointPath, content.value, "keep a checkpoint of the state")
    const { resourceCount, serial } = state.value
    yield* sink.checkpoint({ state: Redacted.make(content.value), serial, resourceCount })
  }).pipe(
    Effect.catch((problem) => Effect.logWarning(problem.message)),
    // Uninterruptible, because a write that continues after the tool has exited could put a state into a folder that is being
    // removed.
    Effect.uninterruptible
  )

  yield* look.pipe(Effect.repeat(Schedule.spaced(interval)), Effect.forkScoped)
})
