import { Effect, type Option, Schedule, Schema, Stream } from "effect"
import { HttpClient } from "effect/http"
import { RunPhase, type RunLogEntry } from "../../../schema/events/RunEvent.ts"
import { changesSomething } from "../../../schema/records/PlanDetails.ts"
import { isFinalStatus } from "../../../schema/records/RunTransitions.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { followEvents, followLogs } from "../../client/RunFollower.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed, jsonLine, PlanWaits, printLine } from "../Output.ts"
import { agentEventText } from "./AgentText.ts"
import { decisionLines } from "./DecisionText.ts"
import { patiently, waitAtMost } from "./Patience.ts"
import { progress, Quiet } from "./Progress.ts"
import { Remote } from "./Remote.ts"
import { summaryText } from "./PlanText.ts"
import { terminalText } from "./TerminalText.ts"

/** Returns true if the Run is waiting for approval or has ended. */
export const isSettled = ({ status }: Run) => status === "waiting_approval" || isFinalStatus(status)

const phases: Readonly<Record<RunPhase, string>> = {
  prepare: "preparing",
  fetch: "fetching the module",
  build: "building",
  init: "initialising",
  plan: "planning",
  apply: "applying",
  show: "reading the plan",
  state: "saving the state",
  outputs: "reading the Outputs",
  check: "checking the result"
}

const isPhase = Schema.is(RunPhase)
const phaseOf = (phase: unknown): string => (isPhase(phase) ? phases[phase] : "working")

const phasesOf = (run: Run) =>
  Effect.gen(function* () {
    const { client, origin } = yield* Remote
    yield* followEvents({ baseUrl: origin }, run.id).pipe(
      Stream.runForEach((event) => {
        const { data, kind } = event
        if (kind === "run.phase") return progress(`${phaseOf(data["phase"])} ...`)
        const ofAgent = agentEventText(kind, data)
        if (ofAgent !== undefined) return progress(ofAgent)
        return kind === "resource.completed" || kind === "resource.failed"
          ? progress(`  ${terminalText(String(data["address"]))} ${kind === "resource.completed" ? "done" : "failed"}`)
          : Effect.void
      }),
      Effect.provideService(HttpClient.HttpClient, client)
    )
  })

export interface LogReading {
  readonly after: number
  /** Set to keep printing new lines until the Run stops executing. */
  readonly follow: boolean
  readonly json: boolean
}

/** Prints the lines of a Run's log to standard output as they arrive. */
export const printLog = (run: Run, { after, follow, json }: LogReading) =>
  Effect.gen(function* () {
    const { client: signed, origin } = yield* Remote
    const client = yield* SvcClient
    const print = (entry: RunLogEntry) => printLine(json ? jsonLine(entry) : terminalText(entry.text))
    if (follow) {
      return yield* followLogs({ baseUrl: origin }, run.id, after).pipe(
        Stream.runForEach(print),
        Effect.provideService(HttpClient.HttpClient, signed)
      )
    }
    for (let last = after; ; ) {
      const page = yield* client.runs.logs({ params: { runId: run.id }, query: { after: last, limit: 1000 } })
      yield* Effect.forEach(page.entries, print, { discard: true })
      if (page.entries.length === 0) return
      last = page.nextAfter
    }
  })

const poll = Schedule.spaced("1 second")

const settled = (run: Run, until: (current: Run) => boolean) =>
  Effect.gen(function* () {
    const client = yield* SvcClient
    const answer = yield* Effect.repeat(patiently(client.runs.read({ params: { runId: run.id } })), {
      until: (current) => until(current.run),
      schedule: poll
    })
    return answer.run
  })

const stopped = (run: Run) =>
  progress(
    `Stopped watching. The Run continues: \`svc run watch ${run.id}\` shows it again, \`svc run cancel ${run.id}\` ends it.`
  )

/** Print the id first, so that the person has the id even if the process is killed while it waits. */
const begun = (run: Run, json: boolean) =>
  json ? progress(jsonLine({ run: { id: run.id } })) : progress(`${run.type.replaceAll("_", " ")} ${run.id}`)

/**
 * Prints the id of the Run, then shows progress until the Run cannot continue without a person. Keeps waiting while the server
 * restarts. An interruption ends the wait, but not the Run.
 */
export const awaitRun = (
  run: Run,
  timeout: Option.Option<number>,
  json: boolean,
  until: (current: Run) => boolean = isSettled
) => {
  const watched = json
    ? settled(run, until)
    : Effect.raceFirst(
        settled(run, until),
        // Ignore a failure to report progress, because such a failure must not end the wait.
        Effect.andThen(Effect.ignore(phasesOf(run)), Effect.never)
      )
  const bounded = waitAtMost(timeout, `The Run ${run.id}`, `svc run watch ${run.id}`)(watched)
  return Effect.andThen(
    begun(run, json),
    Effect.onInterrupt(json ? Effect.provideService(bounded, Quiet, true) : bounded, () => stopped(run))
  )
}

/**
 * Final states that a restarted server records. The recorded end time includes the downtime, so it does not show how long
 * the Run took.
 */
const unwatched: ReadonlySet<string> = new Set([
  "apply_interrupted",
  "interrupted",
  "lifecycle_interrupted",
  "agent_lost"
])

const seconds = ({ error, finishedAt, startedAt }: Run) =>
  finishedAt === undefined || startedAt === undefined || unwatched.has(error?.code ?? "")
    ? undefined
    : Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 1000)

const driftVerdict = ({ drifted, status, type }: Run): ReadonlyArray<string> => {
  if (drifted === true) return ["The real infrastructure differs from the state."]
  return type === "drift_check" && status === "succeeded"
    ? ["No drift: the real infrastructure is as the state has it."]
    : []
}

/** Describes the outcome of a Run for people. */
export const resultText = (run: Run, nameOf: (subject: string) => string = (subject) => subject): string => {
  const time = seconds(run)
  return [
    `${run.type.replaceAll("_", " ")} ${run.status.replaceAll("_", " ")}${time === undefined ? "" : ` after ${time} s`}`,
    ...decisionLines(run, nameOf),
    ...(run.planSummary === undefined ? [] : [summaryText(run)]),
    ...driftVerdict(run),
    ...(run.error === undefined ? [] : [`${run.error.code}: ${terminalText(run.error.message)}`]),
    ...(run.diagnostics ?? []).map(
      ({ address, severity, summary }) =>
        `${severity}: ${terminalText(summary)}${address === undefined ? "" : ` (${terminalText(address)})`}`
    )
  ].join("\n")
}

/**
 * Returns true if somebody has to decide on a waiting plan. A plan without changes only records a revision, so it needs no
 * decision.
 */
export const hasDecision = (run: Run): boolean =>
  run.status === "waiting_approval" && (run.type !== "plan" || changesSomething(run))

/**
 * Returns the exit code for the outcome of a Run: 0 if it succeeded or nothing would change, 3 if a waiting or speculative
 * plan has changes or the infrastructure differs, and 1 otherwise.
 */
export const endOf = Effect.fnUntraced(function* (run: Run) {
  if (run.status === "waiting_approval" && !hasDecision(run)) return
  if (run.status === "waiting_approval") return yield* new PlanWaits({ message: "The plan waits for approval." })
  if (run.status !== "succeeded") {
    return yield* new CommandFailed({ message: `The Run is ${run.status}.`, reported: true })
  }
  if (run.drifted === true) return yield* new PlanWaits({ message: "The infrastructure differs from the state." })
  if (run.speculative === true && changesSomething(run)) {
    return yield* new PlanWaits({ message: "The ref would change something." })
  }
})
