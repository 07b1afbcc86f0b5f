import { Schema } from "effect"
import { SandboxLevel } from "../../schema/records/Run.ts"

/**
 * What the start-up probe decided.
 *
 * - `level`: what every run gets
 * - `accepted`: false when the operator requires more than this machine gives; runs are refused then
 * - `reason`: why this level; `remedy`: what would raise it, absent at the top
 */
export const SandboxStatus = Schema.Struct({
  level: SandboxLevel,
  accepted: Schema.Boolean,
  reason: Schema.String,
  remedy: Schema.optionalKey(Schema.String)
})
export type SandboxStatus = typeof SandboxStatus.Type

/** The sandbox could not be opened or the operator's policy forbids the level this machine gives. */
export class SandboxRefused extends Schema.TaggedError<SandboxRefused>()("SandboxRefused", {
  level: SandboxLevel,
  message: Schema.String
}) {}

/** A program could not be started inside the sandbox. `message` names the program, never its environment. */
export class SandboxSpawnFailed extends Schema.TaggedError<SandboxSpawnFailed>()("SandboxSpawnFailed", {
  program: Schema.String,
  message: Schema.String
}) {}
