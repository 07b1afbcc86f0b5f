import { Effect } from "effect"
import type { StateUploadId } from "../../schema/records/Ids.ts"
import type { Run } from "../../schema/records/Run.ts"
import { Broken, holds } from "./CrashClient.ts"
import { canaries } from "./CrashWorld.ts"
import { confirmImport, importUpload, leave } from "./ImportJourney.ts"
import { exportJourney } from "./ExportJourney.ts"
import { approve, isExcused, planAgain, startApply, type Traveller } from "./Traveller.ts"
import { restoreJourney } from "./RestoreJourney.ts"
import { updateJourney } from "./UpdateJourney.ts"

const mostAttempts = 8

/** Uploads another tool's empty state, retrying with the same key until the server has responded. */
const upload = Effect.fnUntraced(function* ({ client, world }: Traveller, attempt: number) {
  const state = { version: 4, terraform_version: "1.5.0", serial: 3, lineage: `adopted-${attempt}`, resources: [] }
  const { stateUpload } = yield* client.call(({ stateUploads }) =>
    stateUploads.create({
      params: { workspaceId: world.workspaceId },
      headers: { "idempotency-key": `upload-${attempt}` },
      payload: new TextEncoder().encode(JSON.stringify({ ...state, outputs: {} }))
    })
  )
  return { uploadId: stateUpload.id, sha256: stateUpload.sha256 }
})

interface Install<E> {
  readonly name: string
  /** Uploads the initial state of the Capsule. */
  readonly adopt?: (attempt: number) => Effect.Effect<{ readonly uploadId: StateUploadId; readonly sha256: string }, E>
}

/** Returns the installed Capsule with its first plan. There is no plan yet if an import has to be confirmed first. */
const install = Effect.fnUntraced(function* <E>(traveller: Traveller, { adopt: taken, name }: Install<E>) {
  const { acknowledged, client, repositoryUrl, world } = traveller
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const adopt = taken === undefined ? {} : { adopt: yield* taken(attempt) }
    const { installPlan: created } = yield* client.call(({ installPlans }) =>
      installPlans.create({
        params: { workspaceId: world.workspaceId },
        headers: { "idempotency-key": `${name}-${attempt}` },
        payload: {
          source: { name, url: repositoryUrl },
          capsule: { name: `${name}-${attempt}`, environment: "test" },
          options: {
            providerBindings: [
              { provider: "example.test/acme/demo", moduleLocalName: "demo", connectionId: world.connectionId }
            ]
          },
          variables: { greeting: "hello", secret: canaries.variable },
          ...adopt
        }
      })
    )
    acknowledged.installPlans.add(created.id)
    for (;;) {
      const { installPlan } = yield* client.call(({ installPlans }) =>
        installPlans.read({ params: { installPlanId: created.id } })
      )
      if (installPlan.capsuleId !== undefined && installPlan.planRunId !== undefined) {
        acknowledged.capsules.add(installPlan.capsuleId)
        acknowledged.runs.add(installPlan.planRunId)
        const plan = yield* client.settled(installPlan.planRunId)
        return { capsuleId: installPlan.capsuleId, plan }
      }
      if (installPlan.capsuleId !== undefined && installPlan.phase === "reviewable") {
        acknowledged.capsules.add(installPlan.capsuleId)
        return { capsuleId: installPlan.capsuleId, plan: undefined }
      }
      if (installPlan.phase === "failed") {
        const reasons = installPlan.diagnostics.map(({ code }) => code)
        yield* holds(
          reasons.some((code) => isExcused(traveller, code)),
          `The install failed for no crash: ${JSON.stringify(reasons)}`
        )
        break
      }
      yield* Effect.sleep("25 millis")
    }
  }
  return yield* new Broken({ message: "The install never came to a plan" })
})

/** Plans, approves and applies until an apply succeeds. Repeats a plan or apply that a crash interrupted. */
const carryThrough = Effect.fnUntraced(function* (
  traveller: Traveller,
  capsuleId: string,
  kind: "plan" | "destroyPlan",
  label: string,
  first?: Run
) {
  let plan = first
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    plan ??= yield* planAgain(traveller, capsuleId, kind, `${label}-${attempt}`)
    if (plan.status === "waiting_approval") {
      yield* approve(traveller, plan)
      const apply = yield* traveller.client.settled(yield* startApply(traveller, plan))
      if (apply.status === "succeeded") return apply
      yield* holds(
        apply.status === "failed" &&
          (apply.error?.code.startsWith("apply_") === true ||
            apply.error?.code === "lifecycle_interrupted" ||
            (traveller.mayFail && isExcused(traveller, apply.error?.code))),
        `The apply ended as ${apply.status}: ${JSON.stringify(apply.error)}`
      )
      yield* traveller.applyFailed(apply)
    } else {
      yield* holds(
        isExcused(traveller, plan.error?.code),
        `The plan ended as ${plan.status}: ${JSON.stringify(plan.error)}`
      )
    }
    plan = undefined
  }
  return yield* new Broken({ message: `No ${kind} came through` })
})

/** Repeats `once` until it returns a value, as a person would after a crash. */
const untilThere = Effect.fnUntraced(function* <A, E>(
  what: string,
  once: (attempt: number) => Effect.Effect<A | undefined, E>
) {
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const found = yield* once(attempt)
    if (found !== undefined) return found
  }
  return yield* new Broken({ message: `${what} never came through` })
})

/**
 * Starts an apply that lasts until it is cancelled. Returns the apply's id once the apply has reached the slow resource or
 * has ended.
 */
const startSlowApply = Effect.fnUntraced(function* (traveller: Traveller, capsuleId: string, attempt: number) {
  const { client } = traveller
  const plan = yield* planAgain(traveller, capsuleId, "plan", `slow-${attempt}`)
  if (plan.status !== "waiting_approval") return undefined
  yield* approve(traveller, plan)
  const applyId = yield* startApply(traveller, plan)
  for (;;) {
    const { done, events } = yield* client.call(({ runs }) => runs.events({ params: { runId: applyId }, query: {} }))
    if (done || events.some(({ kind }) => kind === "resource.started")) return applyId
    yield* Effect.sleep("25 millis")
  }
})

const cancelSlowApply = Effect.fnUntraced(function* (traveller: Traveller, capsuleId: string) {
  const { client } = traveller
  const { capsule } = yield* client.call(({ capsules }) => capsules.read({ params: { capsuleId } }))
  yield* untilThere("The sync", () =>
    Effect.gen(function* () {
      const { run } = yield* client.call(({ sources }) =>
        sources.sync({ params: { sourceId: capsule.sourceId }, payload: {} })
      )
      const sync = yield* client.settled(run.id)
      return sync.status === "succeeded" ? sync.id : undefined
    })
  )
  const applyId = yield* untilThere("The slow plan", (attempt) => startSlowApply(traveller, capsuleId, attempt))
  // The server refuses the retry if it received the first request and the Run has since ended.
  yield* Effect.ignore(client.call(({ runs }) => runs.cancel({ params: { runId: applyId }, payload: {} })))
  const cancelled = yield* client.settled(applyId)
  yield* holds(
    cancelled.status === "cancelled" || cancelled.error?.code === "apply_interrupted",
    `The cancelled apply ended as ${cancelled.status}`
  )
})

export type JourneyName = "install" | "adopt" | "import" | "export" | "restore" | "destroy" | "cancel" | "update"

/** Commits that the journey pushes. */
export interface Commits {
  /** A commit whose apply lasts until it is cancelled. */
  readonly slower: Effect.Effect<unknown>
  /** Three modules. Each has an input that can consume another module's Output. */
  readonly chain: (revision: string) => Effect.Effect<unknown>
}

/** Runs the named journey, which contains only the steps needed to reach its kill points. */
export const travel = Effect.fn("travel")(function* (traveller: Traveller, name: JourneyName, commits: Commits) {
  if (name === "update") return yield* updateJourney(traveller, commits.chain)
  const { capsuleId, plan } = yield* install(traveller, {
    name: "crash",
    ...(name === "adopt" ? { adopt: (attempt: number) => upload(traveller, attempt) } : {})
  })
  yield* carryThrough(traveller, capsuleId, "plan", "again", plan)
  if (name === "import") {
    const file = yield* leave(traveller, capsuleId)
    const adopt = (attempt: number) => importUpload(traveller, file, attempt)
    const imported = yield* install(traveller, { name: "moved", adopt })
    yield* confirmImport(traveller, imported.capsuleId)
    return yield* carryThrough(traveller, imported.capsuleId, "plan", "imported")
  }
  if (name === "restore") return yield* restoreJourney(traveller, capsuleId)
  if (name === "export") return yield* exportJourney(traveller, capsuleId)
  if (name === "cancel") {
    yield* commits.slower
    yield* cancelSlowApply(traveller, capsuleId)
  }
  if (name !== "install" && name !== "adopt") yield* carryThrough(traveller, capsuleId, "destroyPlan", "destroy")
})
