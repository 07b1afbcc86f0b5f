import { Context, type Effect, type Stream } from "effect"
import type { CreatedSource, CreateSource } from "../../../schema/api/SourcesApi.ts"
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
import type { HookProofs } from "./SourceHook.ts"
import type { FailingLane } from "./SourceLanes.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

/** Reads of Sources, and what people and webhooks do with them beyond one command (`SourceCommands`). */
export class Sources extends Context.Service<
  Sources,
  {
    readonly create: (context: CommandContext, request: CreateSource) => Effect.Effect<CreatedSource, ApiError>
    /** For an unused Source; its archives are swept unless something else needs them. */
    readonly remove: (context: CommandContext, id: SourceId) => Effect.Effect<void, ApiError>
    readonly sync: (
      context: CommandContext,
      id: SourceId,
      request: { readonly intent?: SyncIntent; readonly expectedCommit?: string }
    ) => Effect.Effect<Run, ApiError>
    /** Runs the check and returns when it is done: the Run is final and the report is stored. */
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
    readonly read: (id: SourceId) => Effect.Effect<Source, ApiError>
    readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<Source>, ApiError>
    readonly snapshots: (id: SourceId, page: PageRequest) => Effect.Effect<Page<SourceSnapshot>, ApiError>
    readonly installModules: (id: SourceId, snapshotId: SourceSnapshotId) => Effect.Effect<InstallModules, ApiError>
    readonly file: (id: SourceId, snapshotId: SourceSnapshotId, path: string) => Effect.Effect<SnapshotFile, ApiError>
    readonly report: (id: CompatibilityReportId) => Effect.Effect<CompatibilityReport, ApiError>
    /** Lanes of the Workspace that cannot be fetched, longest-failing first. */
    readonly failingLanes: (workspaceId: WorkspaceId) => Effect.Effect<ReadonlyArray<FailingLane>>
    /**
     * An accepted webhook delivery checks every lane in use, if the Source follows automatically. A ping, or a delivery id
     * already seen within 24 h, starts nothing.
     */
    readonly hook: (
      id: SourceId,
      delivery: {
        readonly proofs: HookProofs
        readonly deliveryId?: string | undefined
        /** The forge is only testing the address and the secret. */
        readonly isPing?: boolean | undefined
        /** Hashed while it arrives. */
        readonly body: Stream.Stream<Uint8Array, ApiError>
      }
    ) => Effect.Effect<{ readonly runIds: ReadonlyArray<RunId> }, ApiError>
  }
>()("svc/actors/ledger/source/Sources") {}
