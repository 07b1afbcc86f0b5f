import { Context, type Effect, type Option, type Redacted, Schema } from "effect"
import type { ToolIdentity } from "../../schema/records/Run.ts"
import type { NotProvided, ProvidedSet } from "./ProvidedCredentials.ts"
import type { BuildReference } from "./RunJob.ts"
import type { RunnerFailure } from "./RunnerFailure.ts"
import type { RunSink } from "./RunSink.ts"

/** The files of the snapshot could not be extracted. */
export class ExtractionFailed extends Schema.TaggedError<ExtractionFailed>()("ExtractionFailed", {
  message: Schema.String
}) {}

/** The required tool is missing on this machine or does not work. `message` contains the remedy. */
export class ToolUnavailable extends Schema.TaggedError<ToolUnavailable>()("ToolUnavailable", {
  message: Schema.String
}) {}

/**
 * A mirror of providers. If `required` is set, a provider that is not in the mirror is an error; otherwise it is fetched from its
 * registry.
 */
export interface ProviderMirror {
  readonly path: string
  readonly required: boolean
}

/** The archive of a build, at a path that the runner can read. */
export interface BuildArchive extends BuildReference {
  readonly path: string
}

/**
 * Finds the files and tools for a job on this machine.
 *
 * - `extractModule`: writes the files of the snapshot with this digest into an existing empty folder; called again for a source
 *   build
 * - `tool`: the program with exactly this name and version, as an absolute path
 * - `keepBuild`: moves an archive out of a run folder; the archive is safely on disk when the call returns
 * - `provided`: this machine's credentials with this name
 * - `findBuild`: the archive with this digest; `none` if it no longer exists
 */
export class RunPlace extends Context.Service<
  RunPlace,
  {
    readonly extractModule: (snapshotDigest: string, target: string) => Effect.Effect<void, ExtractionFailed>
    readonly tool: (requirement: ToolIdentity) => Effect.Effect<string, ToolUnavailable>
    readonly keepBuild: (archive: BuildArchive) => Effect.Effect<BuildReference>
    readonly findBuild: (build: BuildReference) => Effect.Effect<Option.Option<BuildArchive>>
    readonly provided: (name: string) => Effect.Effect<ProvidedSet, NotProvided>
    readonly mirror: Effect.Effect<ProviderMirror | undefined>
  }
>()("svc/runner/execution/RunPlace") {}

/**
 * Everything that an execution requires in addition to its job.
 *
 * - `runFolder`: absolute path on a durable disk; created with mode 0700
 * - `cancelRequested`: completes when somebody requests a stop
 * - `mayStart`: completes when processes of the Run may start; absent if they may start immediately
 * - `recordStart`: for an apply; permits and records the start of the tool, unless the claim already did so; the tool starts
 *   only after this call succeeds
 * - `stateFound`: for an apply; receives the state that the tool left, before the rest of the outcome is read
 */
export interface RunControl {
  readonly runFolder: string
  readonly cancelRequested: Effect.Effect<void>
  readonly mayStart?: Effect.Effect<void>
  readonly recordStart?: Effect.Effect<void, RunnerFailure>
  readonly stateFound?: (state: Redacted.Redacted<Uint8Array>) => Effect.Effect<void>
  readonly sink: RunSink
}
