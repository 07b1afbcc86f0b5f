import { Clock, DateTime, Effect, Metric } from "effect"
import type { ReportedKind, RunEventData } from "../../../schema/events/RunEvent.ts"
import type { RunSink } from "../../../runner/execution/RunSink.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

const boundaries = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

const wait = Metric.histogram("svc_run_wait_seconds", {
  description: "Time that Runs spent queued before they were executed, by type.",
  boundaries
})

const duration = Metric.histogram("svc_run_duration_seconds", {
  description: "Time that Runs executed, by type and the status they ended in.",
  boundaries
})

const phaseDuration = Metric.histogram("svc_run_phase_duration_seconds", {
  description: "Time that Runs spent in each phase, by type and phase.",
  boundaries
})

const ended = Metric.counter("svc_runs_ended_total", {
  description: "Executed Runs by type, status and error code.",
  incremental: true
})

const millisOf = (at: string): number => DateTime.toEpochMillis(DateTime.makeUnsafe(at))

const observe = (
  metric: Metric.Histogram<number>,
  millis: number,
  attributes: Readonly<Record<string, string>>
): Effect.Effect<void> => Metric.update(Metric.withAttributes(metric, attributes), Math.max(0, millis) / 1000)

/** Records the duration of one phase of a Run. */
export const measurePhase = (attributes: { readonly type: string; readonly phase: string }, millis: number) =>
  observe(phaseDuration, millis, attributes)

/** Records how long a Run waited in the queue. Called when the Run is claimed. */
export const measureWait = Effect.fnUntraced(function* ({ queued_at, type }: Pick<RunRow, "queued_at" | "type">) {
  yield* observe(wait, (yield* Clock.currentTimeMillis) - millisOf(queued_at), { type })
})

/** Records a Run that another process executed, from the database, once the Run has ended. */
export const measureEnded = Effect.fnUntraced(function* (
  run: Pick<RunRow, "type" | "status" | "error_code" | "started_at" | "finished_at">
) {
  const { error_code: code, finished_at, started_at, status, type } = run
  const end = finished_at === null ? yield* Clock.currentTimeMillis : millisOf(finished_at)
  if (started_at !== null) yield* observe(duration, end - millisOf(started_at), { type, status })
  yield* Metric.update(Metric.withAttributes(ended, { type, status, code: code ?? "" }), 1)
})

/**
 * Metrics of one execution. The labels are types, phases, statuses and error codes, which are closed sets and contain no
 * data from the Run.
 */
export const measureRun = Effect.fnUntraced(function* (run: RunRow) {
  const { type } = run
  const begun = yield* Clock.currentTimeMillis
  let phase: { readonly name: string; readonly since: number } | undefined

  yield* measureWait(run)

  const leavePhase = Effect.fnUntraced(function* (next: string | undefined) {
    const at = yield* Clock.currentTimeMillis
    const left = phase
    phase = next === undefined ? undefined : { name: next, since: at }
    if (left !== undefined) yield* measurePhase({ type, phase: left.name }, at - left.since)
  })

  const onEvent = (data: RunEventData<ReportedKind>): Effect.Effect<void> =>
    "phase" in data ? leavePhase(data.phase) : Effect.void

  return {
    /** Wraps the Run's sink to observe phase changes. */
    watched: (sink: RunSink): RunSink => ({
      ...sink,
      event: (kind, data) => Effect.andThen(onEvent(data), sink.event(kind, data))
    }),
    /** Counts the end of the Run, with its recorded status and error code. */
    end: Effect.fnUntraced(function* (settled: RunRow | undefined) {
      yield* leavePhase(undefined)
      if (settled === undefined) return
      const { error_code: code, status } = settled
      yield* observe(duration, (yield* Clock.currentTimeMillis) - begun, { type, status })
      yield* Metric.update(Metric.withAttributes(ended, { type, status, code: code ?? "" }), 1)
    })
  }
})
