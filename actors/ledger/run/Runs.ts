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

/** Reads of Runs, and what people do with them beyond one command (`RunCommands`). */
export class Runs extends Context.Service<
  Runs,
  {
    readonly apply: (
      context: CommandContext,
      planRunId: RunId,
      idempotency: IdempotentRequest | undefined
    ) => Effect.Effect<Replayable<Run>, ApiError>
    readonly read: (id: RunId) => Effect.Effect<Run, ApiError>
    /** The files of its module that the Run's commit changes. */
    readonly changeCauses: (id: RunId) => Effect.Effect<ChangeCauses, ApiError>
    readonly sourceChanges: (id: RunId) => Effect.Effect<SourceChanges, ApiError>
    readonly list: (
      workspaceId: WorkspaceId,
      filter: RunFilter,
      page: PageRequest
    ) => Effect.Effect<Page<ListedRun>, ApiError>
    /**
     * Like the above, grouped by change, including the Runs that belong to the changes on the page. Only a filter that matches
     * whole changes is accepted.
     */
    readonly changes: (
      workspaceId: WorkspaceId,
      filter: RunFilter,
      page: PageRequest
    ) => Effect.Effect<Page<ListedRun> & { readonly folded: ReadonlyArray<FoldedRun> }, ApiError>
    /** Number of Runs that the list would have for each value of a facet. */
    readonly facets: (workspaceId: WorkspaceId, filter: RunFilter) => Effect.Effect<RunFacets>
    /**
     * The newest Run of each of these Capsules of the Workspace, in one statement; a Capsule that has never had a Run is absent.
     */
    readonly latest: (
      workspaceId: WorkspaceId,
      capsuleIds: ReadonlyArray<CapsuleId>
    ) => Effect.Effect<ReadonlyArray<LatestRun>>
    /** Approved plans that are neither applied nor void, oldest approval first, and the open updates. */
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
    /** Stops an update: nothing more is planned, unapplied plans are void, running applies continue. */
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

/** One page of a durable sequence. `done`: the Run has a final status and nothing follows. */
export interface SequencePage<A> {
  readonly items: ReadonlyArray<A>
  readonly nextAfter: number
  readonly done: boolean
}

/**
 * The durable event and log sequences of Runs: written by the Run actor, read in pages and followed live. `changed` completes
 * (once) when there may be something after `after`: subscribe first, then read, then wait.
 */
export class RunStreams extends Context.Service<
  RunStreams,
  {
    readonly events: (id: RunId, after: number, limit: number) => Effect.Effect<SequencePage<RunEvent>>
    readonly logs: (id: RunId, after: number, limit: number) => Effect.Effect<SequencePage<RunLogEntry>>
    /**
     * Wake-ups for one Run, coalesced: registering is synchronous, and each call of the listener means "read again". Returns the
     * unsubscribe function.
     */
    readonly listen: (id: RunId, listener: () => void) => () => void
  }
>()("svc/actors/ledger/run/RunStreams") {}
