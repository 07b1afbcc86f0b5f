import { Context, type Effect } from "effect"
import type { RollbackPlanRequest } from "../../schema/api/RunsApi.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import type { RunEvent, RunLogEntry } from "../../schema/events/RunEvent.ts"
import type { CapsuleId, RunGroupId, RunId, StateVersionId, WorkspaceId } from "../../schema/records/Ids.ts"
import type { LatestRun, Run, RunGroup, RunStatus, RunType } from "../../schema/records/Run.ts"
import type { SourceChanges } from "../../schema/records/SourceChanges.ts"
import type { CommandContext, IdempotentRequest, Replayable } from "../Command.ts"
import type { Page, PageRequest } from "../paging/Page.ts"

export interface RunFilter {
  readonly capsuleId?: string | undefined
  readonly sourceId?: string | undefined
  readonly type?: RunType | undefined
  readonly status?: RunStatus | undefined
  /** Includes looks by webhooks and schedules that found nothing new, while they are kept. */
  readonly includeLooks?: boolean | undefined
}

/** Client of the Run actor, with its reads. */
export class Runs extends Context.Service<
  Runs,
  {
    readonly approve: (
      context: CommandContext,
      id: RunId,
      request: { readonly planDigest?: string; readonly comment?: string }
    ) => Effect.Effect<Run, ApiError>
    readonly apply: (
      context: CommandContext,
      planRunId: RunId,
      idempotency: IdempotentRequest | undefined
    ) => Effect.Effect<Replayable<Run>, ApiError>
    readonly cancel: (context: CommandContext, id: RunId, reason: string | undefined) => Effect.Effect<Run, ApiError>
    readonly read: (id: RunId) => Effect.Effect<Run, ApiError>
    /** Which files of its module the Run's commit changes. */
    readonly sourceChanges: (id: RunId) => Effect.Effect<SourceChanges, ApiError>
    readonly list: (
      workspaceId: WorkspaceId,
      filter: RunFilter,
      page: PageRequest
    ) => Effect.Effect<Page<Run>, ApiError>
    /** The newest Run of each of these Capsules of the Workspace, in one statement; one that never ran is absent. */
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
    /** Ends an update: nothing more is planned, unapplied plans are void, running applies continue. */
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
>()("svc/actors/run/Runs") {}

/** One page of a durable sequence. `done`: the Run is final and nothing follows. */
export interface SequencePage<A> {
  readonly items: ReadonlyArray<A>
  readonly nextAfter: number
  readonly done: boolean
}

/**
 * The durable event and log sequences of Runs: written by the Run actor, read by pages and followed live.
 * `changed` completes (once) when something after `after` may be there: subscribe first, then read, then wait.
 */
export class RunStreams extends Context.Service<
  RunStreams,
  {
    readonly events: (id: RunId, after: number, limit: number) => Effect.Effect<SequencePage<RunEvent>>
    readonly logs: (id: RunId, after: number, limit: number) => Effect.Effect<SequencePage<RunLogEntry>>
    /** Wake-ups for one Run, coalesced: registering is synchronous, each call of the listener means "read again". Returns the unsubscribe. */
    readonly listen: (id: RunId, listener: () => void) => () => void
  }
>()("svc/actors/run/RunStreams") {}
