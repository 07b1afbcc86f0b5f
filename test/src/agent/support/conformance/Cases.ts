import { expect } from "bun:test"
import { Effect, Redacted, type Scope } from "effect"
import type { ApplyJob, DriftJob, PlanJob } from "../../../../../runner/execution/RunJob.ts"
import type { PlanOutcome } from "../../../../../runner/execution/RunOutcome.ts"
import { terraform } from "../../../../runner/execution/support/RunnerHarness.ts"
import type { Executed, Pool } from "./Pool.ts"

/** The reports about a Run, without the parts that differ between executions. */
export type Told = ReadonlyArray<string>

export interface Case {
  readonly name: string
  /** Checks one pool's events, and returns the reports that must be the same in every pool. */
  readonly run: (pool: Pool) => Effect.Effect<Told, unknown, Scope.Scope>
}

const canary = "the-value-of-a-sensitive-input"

const common = (snapshotDigest: string) => ({
  module: { snapshotDigest, path: "." },
  localModules: [],
  tool: { name: terraform.name, version: terraform.version },
  credentials: [],
  selfContained: true,
  network: false
})

const planOf = (snapshotDigest: string): Omit<PlanJob, "runId"> => ({
  ...common(snapshotDigest),
  mode: "create_or_update",
  variables: { password: { value: Redacted.make(canary), sensitive: true } }
})

const applyOf = (snapshotDigest: string, plan: PlanOutcome): Omit<ApplyJob, "runId"> => ({
  ...common(snapshotDigest),
  planFile: plan.planFile,
  planDigest: plan.planDigest,
  secrets: plan.secrets
})

const driftOf = (snapshotDigest: string, state: Redacted.Redacted<Uint8Array>): Omit<DriftJob, "runId"> => ({
  ...common(snapshotDigest),
  variables: planOf(snapshotDigest).variables,
  state
})

const module = (provisioner: string) => ({
  "main.tf": `
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "first" { input = var.password }
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "${provisioner}" }
}
output "shown" { value = "one" }
output "hidden" {
  value     = var.password
  sensitive = true
}
`
})

/** Omits ids and durations, which differ every time, and the phase in which files arrive, which exists only for agents. */
const toldBy = <Outcome>({ events, failure, lines }: Executed<Outcome>): Told =>
  [
    ...events
      .map(({ data, kind }) => JSON.stringify({ kind, ...data }))
      .filter((text) => !text.includes('"phase":"fetch"')),
    ...lines.map(({ phase, stream, text }) => `${phase} ${stream} ${text}`).toSorted(),
    ...(failure === undefined ? [] : [`${failure.reason} ${failure.phase} ${failure.message}`])
  ].map((text) =>
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
      .replaceAll(/\b\d+s\b/g, "SECONDS")
      .replaceAll(/"elapsedSeconds":[\d.]+/g, "ELAPSED")
  )

const ended = <Outcome>({ failure, outcome }: Executed<Outcome>): Outcome => {
  if (outcome === undefined) throw new Error(`There is no outcome: ${JSON.stringify(failure)}`)
  return outcome
}

const addresses = <Outcome>({ events }: Executed<Outcome>, wanted: string) =>
  events.flatMap((fact) => (fact.kind === wanted && "address" in fact.data ? [fact.data.address] : []))

const stateOf = (state: Redacted.Redacted<Uint8Array> | undefined): string =>
  state === undefined ? "" : new TextDecoder().decode(Redacted.value(state))

/** Serialises JSON with sorted members, because the order of members has no meaning. */
const inOrder = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )

/** No report contains the secret. The plan file, the state and the Outputs may contain it. */
const isRedacted = <Outcome>({ events, failure, lines }: Executed<Outcome>) =>
  expect(JSON.stringify([events, lines, failure])).not.toContain(canary)

const planned = Effect.fnUntraced(function* (pool: Pool, provisioner: string) {
  const digest = yield* pool.keep(module(provisioner))
  const plan = yield* pool.plan(planOf(digest))
  return { digest, plan, outcome: ended(plan) }
})

export const cases: ReadonlyArray<Case> = [
  {
    name: "a plan: what would change, its outputs, phases and log; a sensitive input is not in them",
    run: Effect.fnUntraced(function* (pool) {
      const { outcome, plan } = yield* planned(pool, "true")
      expect(outcome).toMatchObject({
        tool: { name: "terraform", version: terraform.version },
        summary: { add: 2, change: 0, destroy: 0 },
        hasChanges: true,
        applyable: true,
        envNames: []
      })
      expect(outcome.plannedOutputs.map(({ name, sensitive }) => [name, sensitive])).toEqual([
        ["hidden", true],
        ["shown", false]
      ])
      expect(Redacted.value(outcome.planFile).length).toBeGreaterThan(0)
      expect(plan.lines.length).toBeGreaterThan(0)
      expect(plan.saved).toEqual([])
      isRedacted(plan)
      return [...toldBy(plan), outcome.sandboxLevel, inOrder(outcome.resourceChanges)]
    })
  },
  {
    name: "an apply of the reviewed plan: resources, states, outputs, and a drift check afterwards",
    run: Effect.fnUntraced(function* (pool) {
      const { digest, outcome } = yield* planned(pool, "echo a provisioner works && sleep 1")
      const apply = yield* pool.apply(applyOf(digest, outcome))
      const done = ended(apply)
      expect(done).toMatchObject({ exit: "succeeded", changedAnything: true, possiblyCreated: [], resourceCount: 2 })
      expect(addresses(apply, "resource.completed")).toEqual(["terraform_data.first", "terraform_data.second"])
      expect(apply.lines.some(({ text }) => text.includes("a provisioner works"))).toBe(true)
      // States were saved while the tool was working, with increasing serials.
      expect(apply.saved.length).toBeGreaterThan(0)
      expect(apply.saved).toEqual(apply.saved.toSorted((a, b) => a - b))
      expect(stateOf(done.state)).toContain(canary)
      expect(done.outputs.map(({ name, sensitive, value }) => [name, sensitive, Redacted.value(value)])).toEqual([
        ["hidden", true, canary],
        ["shown", false, "one"]
      ])
      isRedacted(apply)
      const drift = yield* pool.driftCheck(driftOf(digest, done.state ?? Redacted.make(new Uint8Array(0))))
      expect(ended(drift)).toMatchObject({ drifted: false, resourceDrift: [] })
      isRedacted(drift)
      return [...toldBy(apply), ...toldBy(drift), done.sandboxLevel]
    })
  },
  {
    name: "a plan that accepts drift: what differs, and an apply that changes the state only",
    run: Effect.fnUntraced(function* (pool) {
      const { digest, outcome } = yield* planned(pool, "true")
      const first = ended(yield* pool.apply(applyOf(digest, outcome)))
      const state = first.state ?? Redacted.make(new Uint8Array(0))
      // A refresh-only plan changes only the Output, because a terraform_data resource exists only in the state and cannot
      // drift.
      const moved = yield* pool.keep({ "main.tf": module("true")["main.tf"].replace('"one"', '"two"') })
      const refresh = { ...planOf(moved), mode: "refresh_only" as const, state }
      const plan = yield* pool.plan(refresh)
      const accepted = ended(plan)
      expect(accepted).toMatchObject({
        summary: { add: 0, change: 0, destroy: 0 },
        resourceChanges: [],
        resourceDrift: [],
        hasChanges: true,
        outputChanges: [{ name: "shown", before: "one", after: "two" }]
      })
      const apply = yield* pool.apply({ ...applyOf(moved, accepted), state })
      const done = ended(apply)
      expect(done).toMatchObject({ exit: "succeeded", possiblyCreated: [], resourceCount: 2 })
      expect(addresses(apply, "resource.started")).toEqual([])
      expect(stateOf(done.state)).toContain('"value": "two"')
      isRedacted(plan)
      isRedacted(apply)
      return [...toldBy(plan), ...toldBy(apply), done.sandboxLevel]
    })
  },
  {
    name: "an apply that fails halfway, of the reviewed plan only: the state of what was made, and what is uncertain",
    run: Effect.fnUntraced(function* (pool) {
      const { digest, outcome } = yield* planned(pool, "exit 3")
      const other = yield* pool.apply({ ...applyOf(digest, outcome), planDigest: `sha256:${"0".repeat(64)}` })
      expect(other).toMatchObject({ outcome: undefined, failure: { reason: "job_invalid" } })
      expect(addresses(other, "resource.started")).toEqual([])
      const apply = yield* pool.apply(applyOf(digest, outcome))
      const done = ended(apply)
      expect(done).toMatchObject({ exit: "failed", changedAnything: true, sandboxKilled: false })
      expect(addresses(apply, "resource.failed")).toEqual(["terraform_data.second"])
      expect(stateOf(done.state)).toContain('"name": "first"')
      expect(done.diagnostics.some(({ severity }) => severity === "error")).toBe(true)
      isRedacted(apply)
      return [...toldBy(apply), JSON.stringify(done.possiblyCreated), JSON.stringify(done.diagnostics)]
    })
  },
  {
    name: "a plan that the tool refuses: a failure with its reason, and no outcome",
    run: Effect.fnUntraced(function* (pool) {
      const digest = yield* pool.keep({ "main.tf": 'output "wrong" { value = terraform_data.nowhere.id }' })
      const plan = yield* pool.plan({ ...planOf(digest), variables: {} })
      expect(plan.outcome).toBeUndefined()
      expect(plan.failure?.reason).toBe("plan_failed")
      return toldBy(plan)
    })
  },
  {
    name: "an apply that somebody stops: its tool saves what it made and ends",
    run: Effect.fnUntraced(function* (pool) {
      const { digest, outcome } = yield* planned(pool, "for i in $(seq 600); do echo working on $i; sleep 0.1; done")
      const apply = yield* pool.apply(applyOf(digest, outcome), { cancelAt: "working on 3" })
      const done = ended(apply)
      expect(done).toMatchObject({ exit: "cancelled", changedAnything: true })
      expect(stateOf(done.state)).toContain('"name": "first"')
      isRedacted(apply)
      return [...addresses(apply, "resource.started"), JSON.stringify(done.possiblyCreated)]
    })
  }
]
