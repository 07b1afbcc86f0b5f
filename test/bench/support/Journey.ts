import { Clock, Effect, Schedule } from "effect"
import type { RunEvent } from "../../../schema/events/RunEvent.ts"
import type { startProduct } from "./Product.ts"

export type Product = Effect.Success<ReturnType<typeof startProduct>>

const toolPhases: ReadonlySet<string> = new Set(["init", "plan", "show", "apply", "outputs", "state"])

const timeOf = (events: ReadonlyArray<RunEvent>, kind: RunEvent["kind"]): number => {
  const event = events.find((candidate) => candidate.kind === kind)
  return event === undefined ? Number.NaN : Date.parse(event.at)
}

/** Returns the duration of the tool's phases between `from` and `to`. */
const inTool = (events: ReadonlyArray<RunEvent>, to: number): number => {
  const phases = events.filter((event) => event.kind === "run.phase")
  return phases.reduce((sum, { at, data }, index) => {
    const next = phases[index + 1]
    const end = next === undefined ? to : Date.parse(next.at)
    return toolPhases.has(String(data["phase"])) ? sum + end - Date.parse(at) : sum
  }, 0)
}

/**
 * The durations of a Run's parts: before its tool starts, while the tool runs, and from the tool's last output until `end`.
 */
export interface RunParts {
  readonly before: number
  readonly tool: number
  readonly after: number
}

const partsOf = (events: ReadonlyArray<RunEvent>, end: number): RunParts => {
  const inside = events
    .filter(
      ({ data, kind }) => kind === "plan.summary" || (kind === "run.phase" && toolPhases.has(String(data["phase"])))
    )
    .map(({ at }) => Date.parse(at))
  const [first = Number.NaN, last = Number.NaN] = [inside[0], inside.at(-1)]
  return { before: first - timeOf(events, "run.queued"), tool: last - first, after: end - last }
}

const eventsOf = (product: Product, runId: string) =>
  Effect.map(product.client.runs.events({ params: { runId }, query: { limit: 1000 } }), (answer) =>
    answer instanceof Response || !("events" in answer) ? [] : answer.events
  )

// Uses the times of the Run's own events. More frequent polling would only take CPU time from the measured work.
const patient = Schedule.spaced("100 millis")

type InstallRequest = Parameters<Product["client"]["installPlans"]["create"]>[0]["payload"]

/** Installs a module until its plan is reviewable, and returns the duration of each part. */
export const install = Effect.fn("install")(function* (
  product: Product,
  url: string,
  name: string,
  options?: InstallRequest["options"]
) {
  const posted = yield* Clock.currentTimeMillis
  const { installPlan } = yield* product.client.installPlans.create({
    params: { workspaceId: product.workspaceId },
    headers: { "idempotency-key": name },
    payload: {
      source: { name, url },
      capsule: { name, environment: "bench" },
      variables: {},
      ...(options === undefined ? {} : { options })
    }
  })
  const planned = yield* Effect.repeat(
    product.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
    {
      until: (read) => read.installPlan.phase === "reviewable" || read.installPlan.phase === "failed",
      schedule: patient
    }
  )
  const { capsuleId = "", planRunId = "" } = planned.installPlan
  const { runs } = yield* product.client.workspaces.runs({
    params: { workspaceId: product.workspaceId },
    query: { limit: 10 }
  })
  const syncRunId = runs.find(({ type }) => type === "source_sync")?.id ?? ""
  const checkRunId = runs.find(({ type }) => type === "compatibility_check")?.id ?? ""
  const [sync, check, plan] = yield* Effect.all([
    eventsOf(product, syncRunId),
    checkRunId === "" ? Effect.succeed([]) : eventsOf(product, checkRunId),
    eventsOf(product, planRunId)
  ])
  const reviewable = timeOf(plan, "run.waiting_approval")
  const git = timeOf(sync, "run.succeeded") - timeOf(sync, "run.started")
  const scan = check.length === 0 ? 0 : timeOf(check, "run.succeeded") - timeOf(check, "run.started")
  const tool = inTool(plan, reviewable)
  const total = reviewable - posted
  return {
    capsuleId,
    planRunId,
    total,
    git,
    scan,
    tool,
    own: total - git - scan - tool,
    planned: reviewable - timeOf(plan, "run.queued"),
    parts: partsOf(plan, reviewable)
  }
})

/** Approves and applies a plan, and returns the milliseconds from the request until the Apply Run has finished. */
export const apply = Effect.fn("apply")(function* (product: Product, planRunId: string) {
  const { run: plan } = yield* product.client.runs.read({ params: { runId: planRunId } })
  const asked = yield* Clock.currentTimeMillis
  yield* product.client.runs.approve({
    params: { runId: planRunId },
    payload: plan.planDigest === undefined ? {} : { planDigest: plan.planDigest }
  })
  const { run } = yield* product.client.runs.apply({
    params: { runId: planRunId },
    headers: { "idempotency-key": planRunId },
    payload: {}
  })
  yield* Effect.repeat(product.client.runs.read({ params: { runId: run.id } }), {
    until: (read) => read.run.finishedAt !== undefined,
    schedule: patient
  })
  const events = yield* eventsOf(product, run.id)
  const succeeded = timeOf(events, "run.succeeded")
  return { millis: succeeded - asked, tool: inTool(events, succeeded), parts: partsOf(events, succeeded) }
})
