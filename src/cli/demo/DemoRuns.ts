import { Effect, Schedule, Stream } from "effect"
import { SvcClient } from "../../client/SvcClient.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { DemoReport } from "./DemoReport.ts"
import { type DemoServer, runEvents, runLogs } from "./RunSocket.ts"

const pollEvery = "100 millis"
const patience = "2 minutes"

/** Fails the demo unless `holds` is true. */
export const expectThat = (holds: boolean, message: string): Effect.Effect<void, DemoFailed> =>
  holds ? Effect.void : Effect.fail(new DemoFailed({ message }))

/** Repeats a read until it returns the expected result. Fails after a timeout. */
export const until = <A, E, R>(what: string, read: Effect.Effect<A, E, R>, reached: (value: A) => boolean) =>
  Effect.repeat(read, { until: reached, schedule: Schedule.spaced(pollEvery) }).pipe(
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(new DemoFailed({ message: `${what} took longer than ${patience}.` }))
    })
  )

/**
 * Follows a Run over two WebSockets until it waits for review or is final, and returns the Run's status at that point. Fails
 * if events or lines are missing, duplicated or out of order.
 */
export const watch = Effect.fn("watch")(function* (server: DemoServer, runId: string) {
  const client = yield* SvcClient
  const report = yield* DemoReport
  let lastEvent = 0
  let lastLine = 0
  const events = runEvents(server, runId).pipe(
    Stream.tap((event) =>
      Effect.andThen(
        expectThat(event.seq === ++lastEvent, `Event ${lastEvent} of ${runId} is missing or doubled.`),
        report.event(runId, event)
      )
    ),
    Stream.takeUntil((event) => event.kind === "run.waiting_approval"),
    Stream.runDrain
  )
  const logs = runLogs(server, runId).pipe(
    Stream.tap((entry) =>
      Effect.andThen(
        expectThat(entry.seq === ++lastLine, `Line ${lastLine} of ${runId} is missing or doubled.`),
        report.log(runId, entry)
      )
    ),
    Stream.runDrain
  )
  yield* Effect.all([events, logs], { concurrency: 2, discard: true }).pipe(
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(new DemoFailed({ message: `Run ${runId} took longer than ${patience}.` }))
    })
  )
  return (yield* client.runs.read({ params: { runId } })).run
})

/** Follows a plan until it can be reviewed, shows it, approves exactly what was shown, and follows its apply to the end. */
export const reviewAndApply = Effect.fn("reviewAndApply")(function* (
  server: DemoServer,
  planRunId: string,
  expected: { readonly add: number; readonly change: number; readonly destroy: number }
) {
  const client = yield* SvcClient
  const report = yield* DemoReport
  const plan: Run = yield* watch(server, planRunId)
  yield* expectThat(
    plan.status === "waiting_approval",
    `The plan ended as ${plan.status}: ${plan.error?.message ?? ""}`
  )
  yield* report.step("Review the plan", {
    summary: plan.planSummary,
    changes: plan.resourceChanges?.map(({ actions, address }) => `${actions.join("+")} ${address}`),
    tool: plan.tool,
    sandbox: plan.isolation,
    network: plan.network,
    planDigest: plan.planDigest
  })
  const { add, change, destroy } = plan.planSummary ?? { add: -1, change: -1, destroy: -1 }
  yield* expectThat(
    add === expected.add && change === expected.change && destroy === expected.destroy,
    `The plan is to add ${add}, change ${change}, destroy ${destroy}; expected was ${JSON.stringify(expected)}.`
  )
  yield* report.step("Approve and apply")
  yield* client.runs.approve({
    params: { runId: planRunId },
    payload: plan.planDigest === undefined ? {} : { planDigest: plan.planDigest }
  })
  const { run } = yield* client.runs.apply({
    params: { runId: planRunId },
    headers: { "idempotency-key": `apply-${planRunId}` },
    payload: {}
  })
  const applied = yield* watch(server, run.id)
  yield* expectThat(
    applied.status === "succeeded",
    `The apply ended as ${applied.status}: ${applied.error?.message ?? ""}`
  )
  return applied
})
