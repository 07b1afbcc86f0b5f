import { Context, type Effect } from "effect"
import type { RunFacets } from "../../../schema/api/RunQueries.ts"
import type { RollbackPlanRequest } from "../../../schema/api/RunsApi.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { RunEvent, RunLogEntry } from "../../../schema/events/RunEvent.ts"
import type { CapsuleId, RunGroupId, RunId, StateVersionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { FoldedRun, LatestRun, ListedRun, Run } from "../../../schema/records/Run.ts"
import type { RunGroup } from "../../../schema/records/RunGroup.ts"
import type { ChangeCauses } from "../../../schema/records/ChangeCauses.ts"
import type { SourceChanges } from "../../../schema/records/SourceChanges.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import type { RunFilter } from "./RunFilter.ts"

/** Reads Runs, and offers operations that involve more than one Run command (see `RunCommands`). */
export class Runs extends Context.Service<
  Runs,
  {
    readonly apply: (
      context: CommandContext,
      planRunId: RunId,
      idempotency: IdempotentRequest | undefined
    ) => Effect.Effect<Replayable<Run>, ApiError>
    readonly read: (id: RunId) => Effect.Effect<Run, ApiError>
    /** Returns the files in the Run's module that the Run's commit changes. */
    readonly changeCauses: (id: RunId) => Effect.Effect<ChangeCauses, ApiError>
    readonly sourceChanges: (id: RunId) => Effect.Effect<SourceChanges, ApiError>
    readonly list: (
      workspaceId: WorkspaceId,
      filter: RunFilter,
      page: PageRequest
    ) => Effect.Effect<Page<ListedRun>, ApiError>
    /**
     * Like `list`, grouped by change. Each page also includes the Runs that belong to its changes. Only filters that apply to
     * whole changes are accepted.
     */
    readonly changes: (
      workspaceId: WorkspaceId,
      filter: RunFilter,
      page: PageRequest
    ) => Effect.Effect<Page<ListedRun> & { readonly folded: ReadonlyArray<FoldedRun> }, ApiError>
    /** Counts the Runs in the list for each value of each facet. */
    readonly facets: (workspaceId: WorkspaceId, filter: RunFilter) => Effect.Effect<RunFacets>
    /** Returns, in one statement, the newest Run of each of these Capsules. Omits Capsules without Runs. */
    readonly latest: (
      workspaceId: WorkspaceId,
      capsuleIds: ReadonlyArray<CapsuleId>
    ) => Effect.Effect<ReadonlyArray<LatestRun>>
    /** Returns plans that are approved but neither applied nor void, oldest approval first, and the updates in progress. */
    readonly unfinished: (workspaceId: WorkspaceId) => Effect.Effect<{
      readonly approvedPlans: ReadonlyArray<LatestRun>
      readonly updates: ReadonlyArray<{ readonly id: RunGroupId; readonly createdAt: string }>
    }>
    readonly group: (
      id: RunGroupId
    ) => Effect.Effect<{ readonly runGroup: RunGroup; readonly runs: ReadonlyArray<Run> }, ApiError>
    readonly approveGroup: (
      context: CommandContext,
      id: RunGroupId,
      request: { readonly comment?: string; readonly planDigests?: ReadonlyArray<string> }
    ) => Effect.Effect<{ readonly runGroup: RunGroup; readonly runs: ReadonlyArray<Run> }, ApiError>
    /** Stops an update: svc creates no more plans for it and voids its unapplied plans. Running applies continue. */
    readonly cancelGroup: (
      context: CommandContext,
      id: RunGroupId,
      reason: string | undefined
    ) => Effect.Effect<{ readonly runGroup: RunGroup; readonly runs: ReadonlyArray<Run> }, ApiError>
    readonly rollbackPlan: (
      context: CommandContext,
      id: StateVersionId,
      request?: RollbackPlanRequest
    ) => Effect.Effect<Run, ApiError>
  }
>()("svc/actors/ledger/run/Runs") {}

/** A page of a stored sequence. `done` means that the Run has a final status and no more entries will follow. */
export interface SequencePage<A> {
  readonly items: ReadonlyArray<A>
  readonly nextAfter: number
  readonly done: boolean
}

/**
 * The stored event and log sequences of Runs, which can be read in pages and followed live. `changed` completes once there
 * may be entries after `after`; to avoid missing entries, first subscribe, then read, then wait.
 */
export class RunStreams extends Context.Service<
  RunStreams,
  {
    readonly events: (id: RunId, after: number, limit: number) => Effect.Effect<SequencePage<RunEvent>>
    readonly logs: (id: RunId, after: number, limit: number) => Effect.Effect<SequencePage<RunLogEntry>>
    /**
     * Registers a listener for one Run. Notifications are coalesced, so after each call the sequence must be read again. Returns
     * a function that unsubscribes.
     */
    readonly listen: (id: RunId, listener: () => void) => () => void
  }
>()("svc/actors/ledger/run/RunStreams") {}
