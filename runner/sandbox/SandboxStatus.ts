import { Schema } from "effect"
import { RunNetwork } from "../../schema/records/RunConfinement.ts"
import { SandboxLevel } from "../../schema/records/Run.ts"

/**
 * The mechanism that limits memory and processes: the kernel, or svc, which watches a Run and kills it if it exceeds a
 * limit.
 */
export const LimitKeeper = Schema.Literals(["control groups, version 2", "control groups, version 1", "watching"])
export type LimitKeeper = typeof LimitKeeper.Type

/**
 * Results of the probes at startup.
 * - `level`: the level of a Run; if `accepted` is false, the best level available
 * - `accepted`: false if no allowed level works on this machine; Runs are then refused
 * - `reason`: why this level was chosen
 * - `remedy`: how to get a higher level; absent at the best level
 * - `limits`: the most that a Run may use, and how memory and processes are limited
 */
export const SandboxStatus = Schema.Struct({
  level: SandboxLevel,
  accepted: Schema.Boolean,
  reason: Schema.String,
  remedy: Schema.optionalKey(Schema.String),
  limits: Schema.Struct({
    keeper: LimitKeeper,
    memoryBytes: Schema.Number,
    processes: Schema.Number,
    folderBytes: Schema.Number,
    freeBytes: Schema.Number,
    tmpBytes: Schema.Number,
    shmBytes: Schema.Number
  })
})
export type SandboxStatus = typeof SandboxStatus.Type

/**
 * Network of a Run's programs.
 * - `accepted`: false if the operator requires a separate network for each Run and this machine cannot provide one; Runs are
 *   then refused
 * - `forbidden`: ranges that no Run can reach, in addition to the host's loopback
 */
export const NetworkStatus = Schema.Struct({
  reach: RunNetwork,
  accepted: Schema.Boolean,
  reason: Schema.String,
  remedy: Schema.optionalKey(Schema.String),
  forbidden: Schema.Array(Schema.String)
})
export type NetworkStatus = typeof NetworkStatus.Type

/** The sandbox could not be opened, or this machine has no level that the operator accepts. */
export class SandboxRefused extends Schema.TaggedError<SandboxRefused>()("SandboxRefused", {
  level: SandboxLevel,
  message: Schema.String
}) {}

/** A program could not be started inside the sandbox. `message` contains the program's name, never its environment. */
export class SandboxSpawnFailed extends Schema.TaggedError<SandboxSpawnFailed>()("SandboxSpawnFailed", {
  program: Schema.String,
  message: Schema.String
}) {}
