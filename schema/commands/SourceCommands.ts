import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { CreatedSource, CreateSource, UpdateSource } from "../api/SourcesApi.ts"
import { ApiError } from "../errors/ApiError.ts"
import { InstallConfigId, SourceSnapshotId, SourceId } from "../records/Ids.ts"
import { Run } from "../records/Run.ts"
import { Source, SyncIntent } from "../records/Source.ts"
import { CommandContext, commandsOf, IdempotentRequest } from "./Command.ts"

/** Commands for one Source. */
export const SourceCommands = commandsOf(
  "Source",
  SourceId,
  Rpc.make("Create", {
    payload: { context: CommandContext, request: CreateSource },
    success: CreatedSource,
    error: ApiError
  }),
  /** Removes the Source if its first sync failed and nothing uses it. Clears `unread_due` either way. */
  Rpc.make("Unread"),
  Rpc.make("Update", { payload: { context: CommandContext, request: UpdateSource }, success: Source, error: ApiError }),
  /** `freesArchives` is true if snapshots were dropped, because their archives may no longer be needed. */
  Rpc.make("Remove", {
    payload: { context: CommandContext },
    success: Schema.Struct({ freesArchives: Schema.Boolean }),
    error: ApiError
  }),
  /**
   * Replaces the given version of the webhook secret, which becomes invalid immediately. Fails with `guard_conflict` if the
   * version is not current. A replay with the same key changes nothing and returns no secret.
   */
  Rpc.make("RenewHookSecret", {
    payload: {
      context: CommandContext,
      /** The version to replace. */
      hookSecretVersion: Schema.Int,
      /** If true, the current secret becomes invalid at once, because somebody else may have it. */
      endFormerNow: Schema.optional(Schema.Boolean),
      idempotency: Schema.optional(IdempotentRequest)
    },
    success: Schema.Struct({
      replayed: Schema.Boolean,
      source: Source,
      /** Absent in a replay, because a secret is returned only once. */
      hookSecret: Schema.optionalKey(Schema.String)
    }),
    error: ApiError
  }),
  Rpc.make("Sync", {
    payload: {
      context: CommandContext,
      intent: SyncIntent,
      expectedCommit: Schema.optional(Schema.String),
      /** The lane to sync. Defaults to the Source's default lane. */
      lane: Schema.optional(Schema.Struct({ ref: Schema.String, path: Schema.String })),
      trigger: Schema.Literals(["user", "webhook", "schedule", "service"])
    },
    success: Run,
    error: ApiError
  }),
  Rpc.make("CheckCompatibility", {
    payload: {
      context: CommandContext,
      sourceSnapshotId: SourceSnapshotId,
      modulePath: Schema.String,
      /** The configuration that the caller intends to use. */
      installConfigId: Schema.optional(InstallConfigId)
    },
    success: Run,
    error: ApiError
  })
)
