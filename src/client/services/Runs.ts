import { Context, Effect, Layer, Schema, Stream } from "effect"
import { failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { RunLogEntry } from "../../../schema/events/RunEvent.ts"
import type { CostEstimate } from "../../../schema/records/CostEstimate.ts"
import { type ListedRun, Run } from "../../../schema/records/Run.ts"
import type { RunGroup } from "../../../schema/records/RunGroup.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import type { UncertainCode } from "../../../schema/records/UncertainGround.ts"
import { Actor } from "../Actor.ts"
import { ApiTransport } from "../ApiTransport.ts"
import { type IdempotencyOptions, idempotencyHeaders } from "../IdempotencyOptions.ts"
import { everyPage, type Page, pageOf, type PageQuery } from "../Paging.ts"
import { type RunEvent, runEventOf } from "../RunEvents.ts"
import { eventsOver, logsOver } from "../RunFollower.ts"
import type { Plain } from "../Plain.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items, svcErrorOf } from "../SvcError.ts"
import type { QueryOf } from "./RequestParts.ts"

/** Error if a Run ended without the requested result. `run.error` contains the reason if the tool or svc failed. */
export class RunFailed extends Schema.TaggedError<RunFailed>()("RunFailed", { message: Schema.String, run: Run }) {}

/** Filters for a list of Runs. */
export type RunFilter = Omit<QueryOf<"workspaces", "runs">, keyof PageQuery>

/** The reviewed Run. Its digest binds the approval to exactly this plan. */
export type ReviewedRun = Plain<Pick<Run, "id" | "planDigest">>

/** Returns true if the Run is waiting for approval or has ended. */
const isSettled = ({ status }: Run): boolean => status === "waiting_approval" || isFinalStatus(status)

interface ApprovalOptions {
  readonly comment?: string
  /**
   * Codes from `uncertain` in the Run's approvals that the person acknowledges. Without these codes, the server refuses to
   * approve a plan that may miss existing objects.
   */
  readonly acknowledged?: ReadonlyArray<UncertainCode>
}

export interface RunsShape {
  readonly get: (id: string) => Answer<Run>
  /** Streams Runs, newest first. Listed Runs omit a plan's individual changes; `get` returns them. */
  readonly list: (workspaceId: string, filter?: RunFilter) => Items<ListedRun>
  readonly page: (workspaceId: string, query?: RunFilter & PageQuery) => Answer<Page<ListedRun>>
  /** Approves exactly the reviewed plan. Fails if the Run has a newer plan. */
  readonly approve: (reviewed: ReviewedRun, options?: ApprovalOptions) => Answer<Run>
  /** Applies an approved plan and returns the Apply Run. A plan can be applied only once. */
  readonly apply: (id: string, once?: IdempotencyOptions) => Answer<Run>
  /** Cancels the Run. Also withdraws an approval that has not been applied. */
  readonly cancel: (id: string, options?: { readonly reason?: string }) => Answer<Run>
  /**
   * Streams the Run's events that follow `after` until the Run is final: first the stored events, then the live events.
   * There are no gaps or duplicates, because events are read from stored rows and dropped connections are resumed.
   */
  readonly events: (id: string, options?: { readonly after?: number }) => Items<RunEvent>
  /** Like `events`, but streams the Run's log lines, until the Run stops executing. */
  readonly logs: (id: string, options?: { readonly after?: number }) => Items<RunLogEntry>
  /** Waits until the Run succeeds or needs approval, and returns the Run. Fails with `RunFailed` for any other outcome. */
  readonly waitFor: (id: string) => Answer<Run, RunFailed>
  readonly cost: (id: string) => Answer<CostEstimate>
  readonly group: (id: string) => Answer<{ readonly runGroup: RunGroup; readonly runs: ReadonlyArray<Run> }>
  /** Plans a rollback to the revision and configuration of an earlier StateVersion. */
  readonly rollbackPlan: (
    stateVersionId: string,
    options?: { readonly reason?: string; readonly resumeOnNewCommit?: boolean }
  ) => Answer<Run>
}

const make = Effect.gen(function* () {
  const { runs, workspaces } = yield* SvcClient
  const transport = yield* ApiTransport

  const get = (id: string) => Effect.map(answered(runs.read({ params: { runId: id } })), ({ run }) => run)
  const page: RunsShape["page"] = (workspaceId, query = {}) =>
    Effect.map(answered(workspaces.runs({ params: { workspaceId }, query })), (answer) => pageOf(answer.runs, answer))
  const events: RunsShape["events"] = (id, { after = 0 } = {}) =>
    Stream.unwrap(Effect.as(Actor, eventsOver(transport, id, after))).pipe(
      Stream.map(runEventOf),
      Stream.mapError(svcErrorOf)
    )

  const settled = (id: string): Answer<Run> =>
    events(id).pipe(
      Stream.takeUntil(({ kind }) => kind === "run.waiting_approval"),
      Stream.runDrain,
      Effect.andThen(get(id)),
      // If the Run continues, wait again: it was withdrawn from review, so its earlier event was not the last.
      Effect.filterOrElse(isSettled, () => settled(id))
    )

  return Runs.of({
    get,
    page,
    list: (workspaceId, filter = {}) =>
      everyPage<RunFilter & PageQuery, ListedRun>((query) => page(workspaceId, query), filter),
    approve: ({ id, planDigest }, options = {}) =>
      planDigest === undefined
        ? Effect.fail(
            failedPrecondition("The Run has no plan that could have been reviewed. Wait for it, and read it.")
          )
        : Effect.map(
            answered(runs.approve({ params: { runId: id }, payload: { planDigest, ...options } })),
            ({ run }) => run
          ),
    apply: (id, once = {}) =>
      Effect.flatMap(idempotencyHeaders(once), (headers) =>
        Effect.map(answered(runs.apply({ params: { runId: id }, headers, payload: {} })), ({ run }) => run)
      ),
    cancel: (id, options = {}) =>
      Effect.map(answered(runs.cancel({ params: { runId: id }, payload: options })), ({ run }) => run),
    events,
    logs: (id, { after = 0 } = {}) =>
      Stream.unwrap(Effect.as(Actor, logsOver(transport, id, after))).pipe(Stream.mapError(svcErrorOf)),
    waitFor: (id) =>
      Effect.flatMap(
        Effect.filterOrElse(get(id), isSettled, () => settled(id)),
        (run) =>
          run.status === "succeeded" || run.status === "waiting_approval"
            ? Effect.succeed(run)
            : Effect.fail(new RunFailed({ message: run.error?.message ?? `The Run is ${run.status}.`, run }))
      ),
    cost: (id) => Effect.map(answered(runs.cost({ params: { runId: id } })), ({ cost }) => cost),
    group: (id) => answered(runs.group({ params: { runGroupId: id } })),
    rollbackPlan: (stateVersionId, options = {}) =>
      Effect.map(answered(runs.rollbackPlan({ params: { stateVersionId }, payload: options })), ({ run }) => run)
  })
})

/** Manages Runs, which are plans, applies and checks of Capsules, with their reviews, events and logs. */
export class Runs extends Context.Service<Runs, RunsShape>()("svc/src/client/services/Runs") {
  static readonly layer: Layer.Layer<Runs, never, SvcClient | ApiTransport> = Layer.effect(Runs, make)
}
