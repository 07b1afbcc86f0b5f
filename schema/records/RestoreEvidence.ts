import { Schema } from "effect"
import { OutputPublication } from "./PlanDetails.ts"
import { BackupId, StateVersionId } from "./Ids.ts"
import { Timestamp } from "./Primitives.ts"

/** Identifies a state without revealing its contents. */
const StateStanding = Schema.Struct({
  stateVersionId: StateVersionId,
  generation: Schema.Int,
  serial: Schema.Int,
  resourceCount: Schema.Int
})

/**
 * The name of a setting that differs between the current configuration and the one in the backup. Values are never shown.
 */
export class ConfigurationDifference extends Schema.Opaque<ConfigurationDifference>()(
  Schema.Struct({
    kind: Schema.Literals(["input", "provider", "output"]),
    name: Schema.String,
    change: Schema.Literals(["added", "removed", "changed"])
  }).annotate({ identifier: "ConfigurationDifference" })
) {}

/** A reference in the Capsule's record that the restore changes. */
const MovedPointer = Schema.Struct({
  name: Schema.Literals(["installConfigId", "modulePath", "sourceSnapshotId", "ref", "path", "resolvedCommit", "tool"]),
  current: Schema.optionalKey(Schema.String),
  restored: Schema.optionalKey(Schema.String)
})
export type MovedPointer = typeof MovedPointer.Type

/** The changes that restoring a backup would make, for reviewers. Contains versions and names, but no values. */
export class RestoreEvidence extends Schema.Opaque<RestoreEvidence>()(
  Schema.Struct({
    backupId: BackupId,
    backupCreatedAt: Timestamp,
    /** The current state; absent if the Capsule has none. */
    current: Schema.optionalKey(StateStanding),
    /** The state in the backup. */
    restored: StateStanding,
    /** The Capsule's state after the restore. */
    next: Schema.Struct({
      generation: Schema.Int,
      serial: Schema.Int,
      executionAuthorityEpoch: Schema.Int
    }),
    configuration: Schema.Array(ConfigurationDifference),
    pointers: Schema.Array(MovedPointer),
    /** The Outputs that the restore publishes or withdraws; absent if there are none. */
    outputs: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, publication: OutputPublication })))
  }).annotate({ identifier: "RestoreEvidence" })
) {}
