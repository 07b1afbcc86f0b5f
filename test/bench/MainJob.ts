import { Clock, Effect, FileSystem, Schedule, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { RunEvent } from "../../schema/events/RunEvent.ts"
import { type Figure, median } from "./support/Figures.ts"
import { manyFiles, module, repositoryOf } from "./support/Modules.ts"
import { startProduct } from "./support/Product.ts"

const rounds = 5
const toolPhases: ReadonlySet<string> = new Set(["init", "plan", "show", "apply", "outputs", "state"])

/** init, plan, show and apply as somebody does them by hand; milliseconds. */
const byHand = Effect.fn("byHand")(function* (tool: string) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-cli-" })
  yield* files.writeFileString(`${folder}/main.tf`, module)
  const started = yield* Clock.currentTimeMillis
  for (const args of [
    ["init", "-input=false", "-no-color"],
    ["plan", "-input=false", "-no-color", "-out=plan.bin"],
    ["show", "-json", "plan.bin"],
    ["apply", "-input=false", "-no-color", "plan.bin"]
  ]) {
    const handle = yield* spawner.spawn(
      ChildProcess.make(tool, args, {
        cwd: folder,
        extendEnv: false,
        env: { PATH: process.env["PATH"] ?? "", HOME: folder, CHECKPOINT_DISABLE: "1", TF_IN_AUTOMATION: "1" }
      })
    )
    yield* Stream.runDrain(handle.all)
    yield* handle.exitCode
  }
  return (yield* Clock.currentTimeMillis) - started
}, Effect.scoped)

const timeOf = (events: ReadonlyArray<RunEvent>, kind: RunEvent["kind"]): number => {
  const event = events.find((candidate) => candidate.kind === kind)
  return event === undefined ? Number.NaN : Date.parse(event.at)
}

/** Time between `from` and `to` that was spent in phases of the tool. */
const inTool = (events: ReadonlyArray<RunEvent>, to: number): number => {
  const phases = events.filter(({ kind }) => kind === "run.phase")
  return phases.reduce((sum, { at, data }, index) => {
    const next = phases[index + 1]
    const end = next === undefined ? to : Date.parse(next.at)
    return toolPhases.has(String(data["phase"])) ? sum + end - Date.parse(at) : sum
  }, 0)
}

type Product = Effect.Success<ReturnType<typeof startProduct>>

const eventsOf = (product: Product, runId: string) =>
  Effect.map(product.client.runs.events({ params: { runId }, query: { limit: 1000 } }), (answer) =>
    answer instanceof Response || !("events" in answer) ? [] : answer.events
  )

// The times are those of the Run's own events. Asking more often would only take the cores from what is measured.
const patient = Schedule.spaced("100 millis")

/** One install up to its reviewable plan, with what each part of it took. */
const install = Effect.fn("install")(function* (product: Product, url: string, name: string) {
  const posted = yield* Clock.currentTimeMillis
  const { installPlan } = yield* product.client.installPlans.create({
    params: { workspaceId: product.workspaceId },
    headers: { "idempotency-key": name },
    payload: { source: { name, url }, capsule: { name, environment: "bench" }, variables: {} }
  })
  const planned = yield* Effect.repeat(
    product.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
    {
      until: (read) => read.installPlan.phase === "reviewable" || read.installPlan.phase === "failed",
      schedule: patient
    }
  )
  const { capsuleId = "", planRunId = "", syncRunId = "" } = planned.installPlan
  const { runs } = yield* product.client.workspaces.runs({
    params: { workspaceId: product.workspaceId },
    query: { limit: 10 }
  })
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
    planned: reviewable - timeOf(plan, "run.queued")
  }
})

/** Approves and applies a plan; milliseconds from the request to the end of the Apply Run. */
const apply = Effect.fn("apply")(function* (product: Product, planRunId: string) {
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
  return { millis: timeOf(events, "run.succeeded") - asked, tool: inTool(events, timeOf(events, "run.succeeded")) }
})

/** Plan and apply through the product against the bare tool; and what an install costs beside Git, scan and tool. */
export const mainJob = (binary: string, tool: string) =>
  Effect.gen(function* () {
    const small = yield* repositoryOf({ "main.tf": module })
    const large = yield* repositoryOf({ "main.tf": module, ...manyFiles(99) })
    const product = yield* startProduct(
      ["--git-allow-origins", `${small.origin},${large.origin}`, "--tool", tool],
      [binary]
    )
    yield* byHand(tool)
    yield* install(product, small.url, "warm")
    const ratios: Array<number> = []
    const tools: Array<number> = []
    const shares: Array<number> = []
    const parts: Array<string> = []
    for (let round = 0; round < rounds; round++) {
      const bare = yield* byHand(tool)
      const planned = yield* install(product, small.url, `small-${round}`)
      const applied = yield* apply(product, planned.planRunId)
      ratios.push((planned.planned + applied.millis) / bare)
      tools.push((planned.tool + applied.tool) / bare)
      const overhead = yield* install(product, large.url, `large-${round}`)
      shares.push(overhead.own)
      parts.push(
        `${overhead.total} = git ${overhead.git} + scan ${overhead.scan} + tool ${overhead.tool} + own ${overhead.own}`
      )
    }
    const figures: ReadonlyArray<Figure> = [
      {
        name: "plan + apply through the product against the bare CLI",
        figure: median(ratios),
        unit: "x",
        target: { atMost: 1.25 },
        detail: `the tool alone inside the product: ${median(tools).toFixed(2)} x`
      },
      {
        name: "install to reviewable plan, 100 files: not git, scan or tool",
        figure: median(shares),
        unit: "ms",
        target: { atMost: 150 },
        detail: parts[0] ?? ""
      }
    ]
    return figures
  }).pipe(Effect.scoped)
