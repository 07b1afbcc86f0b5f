import { Context, type Effect, type Option, Schema } from "effect"
import type { ToolIdentity } from "../../schema/records/Run.ts"
import type { BuildReference } from "./RunJob.ts"
import type { RunSink } from "./RunSink.ts"

/** The files of the snapshot could not be written out. */
export class ExtractionFailed extends Schema.TaggedError<ExtractionFailed>()("ExtractionFailed", {
  message: Schema.String
}) {}

/** This place has no such tool, or it does not work. `message` says what would help. */
export class ToolUnavailable extends Schema.TaggedError<ToolUnavailable>()("ToolUnavailable", {
  message: Schema.String
}) {}

/** Where providers come from. With `required`, a provider that the mirror does not hold is an error; otherwise its registry is asked. */
export interface ProviderMirror {
  readonly path: string
  readonly required: boolean
}

/** A build's archive where the runner can read it. */
export interface BuildArchive extends BuildReference {
  readonly path: string
}

/**
 * The place where Runs are executed: it turns what a job names into what is on this machine.
 *
 * - `extractModule`: writes the files of the snapshot with this digest into an existing empty folder; called again for a source build
 * - `tool`: the program of exactly this flavour and version, as an absolute path
 * - `keepBuild`: takes an archive out of a run folder; it is on disk when this answers
 * - `findBuild`: the archive with this digest; none when it is gone
 */
export class RunPlace extends Context.Service<
  RunPlace,
  {
    readonly extractModule: (snapshotDigest: string, target: string) => Effect.Effect<void, ExtractionFailed>
    readonly tool: (requirement: ToolIdentity) => Effect.Effect<string, ToolUnavailable>
    readonly keepBuild: (archive: BuildArchive) => Effect.Effect<BuildReference>
    readonly findBuild: (build: BuildReference) => Effect.Effect<Option.Option<BuildArchive>>
    readonly mirror: Effect.Effect<ProviderMirror | undefined>
  }
>()("svc/execution/RunPlace") {}

/**
 * What one execution has beside its job.
 *
 * - `runFolder`: absolute, on a durable disk; created with mode 0700
 * - `cancelRequested`: completes when somebody asks the run to stop
 */
export interface RunControl {
  readonly runFolder: string
  readonly cancelRequested: Effect.Effect<void>
  readonly sink: RunSink
}
