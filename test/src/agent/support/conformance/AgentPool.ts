import { join } from "node:path"
import { Effect, Redacted, Schema } from "effect"
import { ApplyJob, DriftJob, PlanJob, type RunJob } from "../../../../../runner/execution/RunJob.ts"
import type { JobResult } from "../../../../../runner/agent/JobResult.ts"
import { eventually } from "../../../../support/Eventually.ts"
import { temporaryFolder } from "../../../../support/TemporaryFolder.ts"
import { nextRunId, snapshotOf, startAgent } from "../AgentStage.ts"
import type { ScriptedRun } from "../ScriptedRun.ts"
import { scriptedServer } from "../ScriptedServer.ts"
import type { Executed, Pool, Request } from "./Pool.ts"

const encoders = {
  plan: Schema.encodeEffect(Schema.fromJsonString(PlanJob)),
  apply: Schema.encodeEffect(Schema.fromJsonString(ApplyJob)),
  drift_check: Schema.encodeEffect(Schema.fromJsonString(DriftJob))
}

const nothing = Redacted.make(new Uint8Array(0))

/** Starts a real agent behind the protocol, and a server that records the agent's reports. */
export const agentPool = Effect.gen(function* () {
  const server = yield* scriptedServer
  yield* startAgent(server, join(yield* temporaryFolder, "agent"))

  const executed = Effect.fnUntraced(function* <Outcome>(
    kind: ScriptedRun["kind"],
    job: { readonly text: string; readonly runId: ReturnType<typeof nextRunId> } & Pick<RunJob, "module" | "state">,
    planFile: Redacted.Redacted<Uint8Array> | undefined,
    outcomeOf: (result: JobResult, files: ReadonlyMap<string, Uint8Array>) => Outcome | undefined,
    { cancelAt }: Request = {}
  ) {
    const run = server.add({
      runId: job.runId,
      fence: 1,
      kind,
      job: job.text,
      snapshot: job.module.snapshotDigest,
      secrets: {
        ...(job.state === undefined ? {} : { state: Redacted.value(job.state) }),
        ...(planFile === undefined ? {} : { plan_file: Redacted.value(planFile) })
      },
      leaseSeconds: 600
    })
    yield* eventually(
      Effect.sync(() => {
        if (cancelAt !== undefined && JSON.stringify(run.entries).includes(cancelAt)) run.cancel = true
        return run.results
      }),
      (results) => results.length > 0
    )
    const [result] = run.results
    const done: Executed<Outcome> = {
      outcome: result === undefined ? undefined : outcomeOf(result, run.files),
      failure: result?.status === "failed" ? result.failure : undefined,
      events: run.entries.flatMap((entry) => (entry.kind === "event" ? [entry.fact] : [])),
      lines: run.entries.flatMap((entry) =>
        entry.kind === "line" ? [{ phase: entry.phase, stream: entry.stream, text: entry.text }] : []
      ),
      saved: run.serials
    }
    return done
  })

  const pool: Pool = {
    keep: (files) => snapshotOf(server, files),
    plan: Effect.fnUntraced(function* ({ state, ...job }, request) {
      const runId = nextRunId()
      const text = yield* encoders.plan({ ...job, runId })
      return yield* executed(
        "plan",
        { ...job, runId, text, state },
        undefined,
        (result, files) =>
          result.kind === "plan" && result.status === "ended"
            ? { ...result.outcome, planFile: Redacted.make(files.get("plan_file") ?? new Uint8Array(0)) }
            : undefined,
        request
      )
    }),
    apply: Effect.fnUntraced(function* ({ planFile, state, ...job }, request) {
      const runId = nextRunId()
      const text = yield* encoders.apply({ ...job, runId, planFile: nothing })
      return yield* executed(
        "apply",
        { ...job, runId, text, state },
        planFile,
        (result, files) => {
          if (result.kind !== "apply" || result.status !== "ended") return undefined
          const found = files.get("state")
          return { ...result.outcome, ...(found === undefined ? {} : { state: Redacted.make(found) }) }
        },
        request
      )
    }),
    driftCheck: Effect.fnUntraced(function* ({ state, ...job }, request) {
      const runId = nextRunId()
      const text = yield* encoders.drift_check({ ...job, runId })
      return yield* executed(
        "drift_check",
        { ...job, runId, text, state },
        undefined,
        (result) => (result.kind === "drift_check" && result.status === "ended" ? result.outcome : undefined),
        request
      )
    })
  }
  return pool
})
