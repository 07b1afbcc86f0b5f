import { Effect } from "effect"
import type { CapsuleId } from "../../schema/records/Ids.ts"
import type { RunGroup } from "../../schema/records/RunGroup.ts"
import { RelativePath } from "../../schema/records/Primitives.ts"
import { Broken, holds } from "./CrashClient.ts"
import { canaries } from "./CrashWorld.ts"
import { approve, isExcused, planAgain, startApply, type Traveller } from "./Traveller.ts"

const names = ["one", "two", "three"] as const

const moduleOf = (name: string, revision: string) => `
variable "a" {
  type    = string
  default = "nothing"
}
variable "secret" {
  type      = string
  sensitive = true
}
output "value" { value = "${name}-${revision} of \${var.a}" }
`

/** Returns three modules without resources. Each module has an input that can consume another module's Output. */
export const chainModules = (revision: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [`${name}/main.tf`, moduleOf(name, revision)]))

const valueOf = (revision: string) => names.reduce((before, name) => `${name}-${revision} of ${before}`, "nothing")

/** Installs and applies one Capsule of the chain, which consumes an Output of `producer`. */
const link = Effect.fnUntraced(function* (
  traveller: Traveller,
  name: (typeof names)[number],
  producerCapsuleId: CapsuleId | undefined
) {
  const { acknowledged, client, repositoryUrl, world } = traveller
  const outputs = [{ from: "value", to: "a", required: true }]
  const { installPlan: created } = yield* client.call(({ installPlans }) =>
    installPlans.create({
      params: { workspaceId: world.workspaceId },
      headers: { "idempotency-key": `install-${name}` },
      payload: {
        source: { name, url: repositoryUrl },
        capsule: { name, environment: "test" },
        options: { modulePath: RelativePath.make(name) },
        variables: { secret: canaries.variable },
        ...(producerCapsuleId === undefined
          ? {}
          : { dependencies: [{ producerCapsuleId, mode: "published_output", outputs }] })
      }
    })
  )
  acknowledged.installPlans.add(created.id)
  for (;;) {
    const { installPlan } = yield* client.call(({ installPlans }) =>
      installPlans.read({ params: { installPlanId: created.id } })
    )
    yield* holds(installPlan.phase !== "failed", `The install failed: ${JSON.stringify(installPlan.diagnostics)}`)
    const { capsuleId, planRunId } = installPlan
    if (capsuleId !== undefined && planRunId !== undefined) {
      acknowledged.capsules.add(capsuleId)
      acknowledged.runs.add(planRunId)
      const plan = yield* client.settled(planRunId)
      yield* approve(traveller, plan)
      const apply = yield* client.settled(yield* startApply(traveller, plan))
      yield* holds(apply.status === "succeeded", `The first apply ended as ${apply.status}`)
      return capsuleId
    }
    yield* Effect.sleep("25 millis")
  }
})

/** Acts like a person during an update: applies waiting plans, and repeats plans that a crash interrupted. */
const attend = Effect.fnUntraced(function* (traveller: Traveller, group: RunGroup) {
  for (const member of (group.waves ?? []).flatMap(({ capsules }) => capsules)) {
    if (member.planRunId !== undefined) traveller.acknowledged.runs.add(member.planRunId)
    if (member.state === "failed") {
      yield* holds(
        member.reason?.code.startsWith("apply_") === true || isExcused(traveller, member.reason?.code),
        `${member.name} failed: ${JSON.stringify(member.reason)}`
      )
      yield* planAgain(traveller, member.capsuleId, "plan", `after-${member.applyRunId ?? member.planRunId ?? ""}`)
    }
    if (member.planRunId === undefined) continue
    const plan = yield* traveller.client.settled(member.planRunId)
    if (member.state === "waiting_approval") yield* approve(traveller, plan)
    if (member.state === "waiting_approval" || member.state === "approved") {
      yield* traveller.client.settled(yield* startApply(traveller, plan))
    }
  }
})

/** Updates three Capsules in a chain, wave by wave, even if the server is killed during the update. */
export const updateJourney = Effect.fn("updateJourney")(function* (
  traveller: Traveller,
  commit: (revision: string) => Effect.Effect<unknown>
) {
  const { client, world } = traveller
  yield* commit("first")
  const ids: Array<CapsuleId> = []
  for (const name of names) ids.push(yield* link(traveller, name, ids.at(-1)))
  yield* commit("second")
  for (const capsuleId of ids) {
    const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
    const { run } = yield* client.call(({ sources }) =>
      sources.sync({ params: { sourceId: capsule.sourceId }, payload: {} })
    )
    yield* client.settled(run.id)
  }
  const started = yield* client.call(({ workspaces }) =>
    workspaces.planUpdate({ params: { workspaceId: world.workspaceId }, payload: undefined })
  )
  const runGroupId = started.runGroup.id
  for (;;) {
    const { runGroup, runs } = yield* client.call((api) => api.runs.group({ params: { runGroupId } }))
    yield* holds(runs.length <= 20, "The update goes round in circles")
    // The server would have superseded a plan that was created with an old value.
    yield* holds(
      runs.every(({ status }) => status !== "superseded"),
      "A Capsule was planned before what it takes from was applied"
    )
    if (runGroup.status === "succeeded") break
    yield* attend(traveller, runGroup)
    yield* Effect.sleep("25 millis")
  }
  for (const capsuleId of ids) {
    const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
    yield* holds(capsule.status === "active", `After the update ${capsule.name} is ${capsule.status}`)
  }
  const { outputs } = yield* client.call(({ capsules }) =>
    capsules.outputs({ params: { capsuleId: ids.at(-1) ?? "" } })
  )
  const [output] = outputs
  yield* output?.value === valueOf("second")
    ? Effect.void
    : new Broken({ message: `The last of the chain gives ${JSON.stringify(output?.value)}` })
})
