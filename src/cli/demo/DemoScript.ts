import { Effect, Schedule, Stream } from "effect"
import { SvcClient } from "../../client/SvcClient.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { DemoReport } from "./DemoReport.ts"
import { sampleRevisions } from "../../../runner/git/SampleModule.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { type DemoServer, runEvents, runLogs } from "./RunSocket.ts"

const [first, second] = sampleRevisions.map(({ tag }) => tag)

const outputsOf = Effect.fn("outputsOf")(function* (capsuleId: string) {
  const client = yield* SvcClient
  const { outputs } = yield* client.capsules.outputs({ params: { capsuleId } })
  return Object.fromEntries(outputs.map(({ name, value }) => [name, value]))
})

const pollEvery = "100 millis"
const patience = "2 minutes"

/** Fails the demo unless `holds` is true. */
const expectThat = (holds: boolean, message: string): Effect.Effect<void, DemoFailed> =>
  holds ? Effect.void : Effect.fail(new DemoFailed({ message }))

/** Repeats a read until it returns the expected result. Fails after a timeout. */
const until = <A, E, R>(what: string, read: Effect.Effect<A, E, R>, reached: (value: A) => boolean) =>
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
const watch = Effect.fn("watch")(function* (server: DemoServer, runId: string) {
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
const reviewAndApply = Effect.fn("reviewAndApply")(function* (
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

const expectOutputs = Effect.fn("expectOutputs")(function* (
  capsuleId: string,
  expected: Readonly<Record<string, string>>
) {
  const report = yield* DemoReport
  const outputs = yield* outputsOf(capsuleId)
  yield* report.step("Outputs", outputs)
  const same =
    Object.keys(outputs).length === Object.keys(expected).length &&
    Object.entries(expected).every(([name, value]) => outputs[name] === value)
  yield* expectThat(same, `The Outputs are ${JSON.stringify(outputs)}; expected was ${JSON.stringify(expected)}.`)
})

const install = Effect.fn("install")(function* (server: DemoServer, workspaceId: string, url: string) {
  const client = yield* SvcClient
  const report = yield* DemoReport
  yield* report.step("Install from Git", { url, ref: first })
  const { installPlan } = yield* client.installPlans.create({
    params: { workspaceId },
    headers: { "idempotency-key": "demo-install" },
    payload: {
      source: { name: "demo", url, ref: first ?? "" },
      capsule: { name: "demo", environment: "production" },
      variables: { name: "operator" }
    }
  })
  const read = Effect.map(
    client.installPlans.read({ params: { installPlanId: installPlan.id } }),
    (answer) => answer.installPlan
  )
  const sync = yield* until(
    "The first sync",
    Effect.map(
      client.workspaces.runs({ params: { workspaceId }, query: { type: ["source_sync"] } }),
      ({ runs }) => runs[0]
    ),
    (run) => run !== undefined
  )
  if (sync !== undefined) yield* watch(server, sync.id)
  const planned = yield* until(
    "The install plan",
    read,
    ({ phase, planRunId }) => phase === "failed" || planRunId !== undefined
  )
  const { capsuleId, planRunId } = planned
  if (capsuleId === undefined || planRunId === undefined) {
    return yield* new DemoFailed({ message: `The install plan failed: ${JSON.stringify(planned.diagnostics)}` })
  }
  yield* report.step("Plan", { capsule: capsuleId, planRun: planRunId })
  yield* reviewAndApply(server, planRunId, { add: 1, change: 0, destroy: 0 })
  yield* expectOutputs(capsuleId, { greeting: "Hello, operator!" })
  return capsuleId
})

const update = Effect.fn("update")(function* (server: DemoServer, capsuleId: string) {
  const client = yield* SvcClient
  const report = yield* DemoReport
  yield* report.step("Plan the next revision", { ref: second })
  const { revisionPlan } = yield* client.revisionPlans.create({
    params: { capsuleId },
    headers: { "idempotency-key": "demo-update" },
    payload: { ref: second ?? "" }
  })
  const planned = yield* until(
    "The revision plan",
    Effect.map(
      client.revisionPlans.read({ params: { revisionPlanId: revisionPlan.id } }),
      (answer) => answer.revisionPlan
    ),
    ({ phase, planRunId }) => phase === "failed" || planRunId !== undefined
  )
  if (planned.planRunId === undefined) {
    return yield* new DemoFailed({ message: `The revision plan failed: ${JSON.stringify(planned.diagnostics)}` })
  }
  yield* reviewAndApply(server, planned.planRunId, { add: 1, change: 1, destroy: 0 })
  yield* expectOutputs(capsuleId, { greeting: "Good morning, operator!", farewell: "Goodbye, operator!" })
  const readCapsule = Effect.map(client.capsules.read({ params: { capsuleId } }), ({ capsule }) => capsule)
  const updated = yield* readCapsule
  yield* expectThat(
    updated.status === "active" && updated.adoptedSourceRevision?.ref === second,
    `The Capsule is ${updated.status} at ${updated.adoptedSourceRevision?.ref}; expected was active at ${second}.`
  )
})

const destroy = Effect.fn("destroy")(function* (server: DemoServer, capsuleId: string) {
  const client = yield* SvcClient
  const report = yield* DemoReport
  yield* report.step("Plan to destroy everything")
  const planned = yield* client.capsules.destroyPlan({ params: { capsuleId }, headers: {}, payload: {} })
  yield* reviewAndApply(server, planned.run.id, { add: 0, change: 0, destroy: 2 })
  const { capsule } = yield* client.capsules.read({ params: { capsuleId } })
  yield* expectThat(capsule.status === "destroyed", `The Capsule is ${capsule.status}; expected was destroyed.`)
})

/** Performs the entire main workflow as a person would. Fails with `DemoFailed` at the first deviation. */
export const playDemo = Effect.fn("playDemo")(function* (server: DemoServer, url: string) {
  const client = yield* SvcClient
  const report = yield* DemoReport
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const workspace = workspaces[0]
  if (workspace === undefined) return yield* new DemoFailed({ message: "The first sign-in made no Workspace." })
  yield* report.step("Workspace", { id: workspace.id, handle: workspace.handle, role: workspace.role })
  const capsuleId = yield* install(server, workspace.id, url)
  yield* update(server, capsuleId)
  yield* destroy(server, capsuleId)
  yield* report.step("Done: installed, updated and destroyed, all as expected")
})
