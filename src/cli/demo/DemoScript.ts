import { Effect } from "effect"
import { SvcClient } from "../../client/SvcClient.ts"
import { DemoFailed } from "./DemoFailed.ts"
import { DemoReport } from "./DemoReport.ts"
import { sampleRevisions } from "../../../runner/git/SampleModule.ts"
import { expectThat, reviewAndApply, until, watch } from "./DemoRuns.ts"
import type { DemoServer } from "./RunSocket.ts"

const [first, second] = sampleRevisions.map(({ tag }) => tag)

const outputsOf = Effect.fn("outputsOf")(function* (capsuleId: string) {
  const client = yield* SvcClient
  const { outputs } = yield* client.capsules.outputs({ params: { capsuleId } })
  return Object.fromEntries(outputs.map(({ name, value }) => [name, value]))
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
