import { Schema } from "effect"
import { SandboxLevel } from "../../schema/records/Run.ts"

/**
 * What the probes at start decided.
 *
 * - `level`: what a Run gets; where `accepted` is false, what it would get at best
 * - `accepted`: false when this machine gives nothing that may be chosen; Runs are refused then
 * - `reason`: why this level; `remedy`: what would raise it, absent at the top
 */
export const SandboxStatus = Schema.Struct({
  level: SandboxLevel,
  accepted: Schema.Boolean,
  reason: Schema.String,
  remedy: Schema.optionalKey(Schema.String)
})
export type SandboxStatus = typeof SandboxStatus.Type

/** The sandbox could not be opened, or this machine gives no level that the operator accepts. */
export class SandboxRefused extends Schema.TaggedError<SandboxRefused>()("SandboxRefused", {
  level: SandboxLevel,
  message: Schema.String
}) {}

/** A program could not be started inside the sandbox. `message` names the program, never its environment. */
export class SandboxSpawnFailed extends Schema.TaggedError<SandboxSpawnFailed>()("SandboxSpawnFailed", {
  program: Schema.String,
  message: Schema.String
}) {}
