import { Context, type Effect } from "effect"
import type { CapsuleLook } from "../../../schema/api/CapsulesApi.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Backup } from "../../../schema/records/Backup.ts"
import type { AutoUpdateDecision } from "../../../schema/records/AutoUpdate.ts"
import type { Capsule } from "../../../schema/records/Capsule.ts"
import type { CapsuleId, InstallConfigId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { InstallConfig } from "../../../schema/records/InstallConfig.ts"
import type { ProviderBinding } from "../../../schema/records/Provider.ts"
import type { Run } from "../../../schema/records/Run.ts"
import type { RunGroup, SkippedCapsule } from "../../../schema/records/RunGroup.ts"
import type { Output, StateVersion } from "../../../schema/records/StateVersion.ts"
import type { TokenLimits } from "../../../schema/records/TokenLimits.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

export interface CapsuleUsage {
  readonly runMinutes: number
  readonly applies: number
  readonly stateBytes: number
  readonly logBytes: number
}

type GroupResult = {
  readonly runGroup: RunGroup
  readonly runs: ReadonlyArray<Run>
  readonly skipped: ReadonlyArray<SkippedCapsule>
}

/** Filters for a list of Capsules, from the query and from the restrictions of the caller's token. */
export interface CapsuleFilter extends TokenLimits {
  readonly projectId?: string | undefined
  readonly status?: string | undefined
}

/** Reads Capsules, and offers operations on several Capsules. For commands to a single Capsule, see `CapsuleCommands`. */
export class Capsules extends Context.Service<
  Capsules,
  {
    /** Returns the decisions that auto-update has made about snapshots, newest first. */
    readonly autoUpdateDecisions: (
      id: CapsuleId,
      page: PageRequest
    ) => Effect.Effect<Page<AutoUpdateDecision>, ApiError>
    /** Checks the Capsule's lane in the repository, and returns when the check has finished. */
    readonly look: (context: CommandContext, id: CapsuleId) => Effect.Effect<CapsuleLook, ApiError>
    /** Updates all stale Capsules, or only those listed in `only`. */
    readonly planUpdate: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      only?: ReadonlyArray<CapsuleId>
    ) => Effect.Effect<GroupResult, ApiError>
    readonly driftCheckAll: (context: CommandContext, workspaceId: WorkspaceId) => Effect.Effect<GroupResult, ApiError>
    readonly backup: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      id: CapsuleId | undefined
    ) => Effect.Effect<Backup, ApiError>
    readonly backups: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Backup>, ApiError>

    readonly read: (id: CapsuleId) => Effect.Effect<Capsule, ApiError>
    readonly list: (
      workspaceId: WorkspaceId,
      filter: CapsuleFilter,
      page: PageRequest
    ) => Effect.Effect<Page<Capsule>, ApiError>
    /**
     * Returns at most 100 Capsules that have failed, are behind, have drifted or whose safety is unknown, most recently
     * changed first.
     */
    readonly needingAttention: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<Capsule>>
    /** Returns the names of existing Capsules, by id. */
    readonly names: (ids: ReadonlyArray<CapsuleId>) => Effect.Effect<ReadonlyMap<string, string>>
    readonly outputs: (id: CapsuleId) => Effect.Effect<ReadonlyArray<Output>, ApiError>
    readonly providerBindings: (id: CapsuleId) => Effect.Effect<ReadonlyArray<ProviderBinding>, ApiError>
    readonly stateVersions: (id: CapsuleId, page: PageRequest) => Effect.Effect<Page<StateVersion>, ApiError>
    readonly stateVersion: (id: StateVersionId) => Effect.Effect<StateVersion, ApiError>
    readonly currentStateVersions: (
      workspaceId: WorkspaceId,
      page: PageRequest
    ) => Effect.Effect<Page<StateVersion>, ApiError>
    readonly installConfigs: (
      workspaceId: WorkspaceId,
      page: PageRequest
    ) => Effect.Effect<Page<InstallConfig>, ApiError>
    readonly installConfig: (workspaceId: WorkspaceId, id: InstallConfigId) => Effect.Effect<InstallConfig, ApiError>
    readonly usage: (id: CapsuleId) => Effect.Effect<CapsuleUsage, ApiError>
    readonly workspaceUsage: (workspaceId: WorkspaceId) => Effect.Effect<CapsuleUsage, ApiError>
  }
>()("svc/actors/commands/capsule/Capsules") {}
