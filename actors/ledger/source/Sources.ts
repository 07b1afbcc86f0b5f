import { Context, type Effect, type Stream } from "effect"
import type { CreatedSource, CreateSource, SourceRevisions } from "../../../schema/api/SourcesApi.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { CompatibilityReport, InstallModules } from "../../../schema/records/CompatibilityReport.ts"
import type {
  CompatibilityReportId,
  InstallConfigId,
  RunId,
  SourceId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import type { SnapshotFile, Source, SourceSnapshot, SyncIntent } from "../../../schema/records/Source.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { HookProofs } from "./WebhookSignature.ts"
import type { FailingLane } from "./SourceLanes.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

/** Reads Sources, and offers operations that involve more than one Source command (see `SourceCommands`). */
export class Sources extends Context.Service<
  Sources,
  {
    readonly create: (context: CommandContext, request: CreateSource) => Effect.Effect<CreatedSource, ApiError>
    /** Removes an unused Source and its archives, except archives that are still needed elsewhere. */
    readonly remove: (context: CommandContext, id: SourceId) => Effect.Effect<void, ApiError>
    readonly sync: (
      context: CommandContext,
      id: SourceId,
      request: { readonly intent?: SyncIntent; readonly expectedCommit?: string }
    ) => Effect.Effect<Run, ApiError>
    /** Runs a compatibility check, and returns when its Run has ended and its report is stored. */
    readonly checkCompatibility: (
      context: CommandContext,
      id: SourceId,
      request: {
        readonly sourceSnapshotId: SourceSnapshotId
        readonly modulePath: string
        readonly installConfigId?: InstallConfigId
      }
    ) => Effect.Effect<{ readonly run: Run; readonly compatibilityReport: CompatibilityReport }, ApiError>
    readonly stableSemver: (
      workspaceId: WorkspaceId,
      url: string
    ) => Effect.Effect<{ readonly tag: string; readonly commit: string; readonly version: string }, ApiError>
    /** Reads the current branches, tags and newest commits of the repository with the person's authority. */
    readonly revisions: (
      context: CommandContext,
      id: SourceId,
      ref: string | undefined
    ) => Effect.Effect<SourceRevisions, ApiError>
    readonly read: (id: SourceId) => Effect.Effect<Source, ApiError>
    readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Source>, ApiError>
    readonly snapshots: (id: SourceId, page: PageRequest) => Effect.Effect<Page<SourceSnapshot>, ApiError>
    readonly installModules: (id: SourceId, snapshotId: SourceSnapshotId) => Effect.Effect<InstallModules, ApiError>
    readonly file: (id: SourceId, snapshotId: SourceSnapshotId, path: string) => Effect.Effect<SnapshotFile, ApiError>
    readonly report: (id: CompatibilityReportId) => Effect.Effect<CompatibilityReport, ApiError>
    /** Returns the lanes of the Workspace that cannot be fetched, longest-failing first. */
    readonly failingLanes: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<FailingLane>>
    /**
     * Handles an accepted webhook delivery: checks every lane in use if the Source syncs automatically. A ping, or a delivery id
     * seen within the last 24 hours, starts nothing.
     */
    readonly hook: (
      id: SourceId,
      delivery: {
        readonly proofs: HookProofs
        readonly deliveryId?: string | undefined
        /** True if the forge is only testing the address and the secret. */
        readonly isPing?: boolean | undefined
        /** The body as a stream. It is hashed as it arrives, without buffering. */
        readonly body: Stream.Stream<Uint8Array, ApiError>
      }
    ) => Effect.Effect<{ readonly runIds: ReadonlyArray<RunId> }, ApiError>
  }
>()("svc/actors/ledger/source/Sources") {}
