import { Clock, Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { type Figure, median } from "./support/Figures.ts"
import { apply, install, type Product } from "./support/Journey.ts"
import { manyFiles, module, repositoryOf } from "./support/Modules.ts"
import { startProduct } from "./support/Product.ts"
import { provider, providerModule, selfContainedMirror } from "./support/ProviderModule.ts"

const rounds = 9
const installs = 5

/** Durations of init, plan, show and apply when run by hand, in milliseconds. */
const byHand = Effect.fn("byHand")(function* (
  tool: string,
  text: string,
  environment: Readonly<Record<string, string>> = {}
) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-cli-" })
  yield* files.writeFileString(`${folder}/main.tf`, text)
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
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: folder,
          CHECKPOINT_DISABLE: "1",
          TF_IN_AUTOMATION: "1",
          ...environment
        }
      })
    )
    yield* Stream.runDrain(handle.all)
    yield* handle.exitCode
  }
  return (yield* Clock.currentTimeMillis) - started
}, Effect.scoped)

/** Repeats plans and applies of one module, both by hand and through the product. */
const compared = Effect.fn("compared")(function* (request: {
  readonly byHand: ReturnType<typeof byHand>
  readonly install: (name: string) => ReturnType<typeof install>
  readonly product: Product
}) {
  const ratios: Array<number> = []
  const tools: Array<number> = []
  yield* request.byHand
  const warm = yield* request.install("warm")
  yield* apply(request.product, warm.planRunId)
  for (let round = 0; round < rounds; round++) {
    const bare = yield* request.byHand
    const planned = yield* request.install(`round-${round}`)
    const applied = yield* apply(request.product, planned.planRunId)
    ratios.push((planned.planned + applied.millis) / bare)
    tools.push((planned.tool + applied.tool) / bare)
  }
  return {
    figure: median(ratios),
    unit: "x",
    target: { atMost: 1.25 },
    detail: `the tool alone inside the product: ${median(tools).toFixed(2)} x`
  } as const
})

/** Measures a module that needs only the tool, and the overhead of an install beyond Git, scan and tool. */
const withoutProvider = Effect.fn("withoutProvider")(function* (binary: string, tool: string) {
  const small = yield* repositoryOf({ "main.tf": module })
  const large = yield* repositoryOf({ "main.tf": module, ...manyFiles(99) })
  const product = yield* startProduct(
    ["--git-allow-origins", `${small.origin},${large.origin}`, "--tool", tool],
    [binary]
  )
  const ratio = yield* compared({
    byHand: byHand(tool, module),
    install: (name) => install(product, small.url, name),
    product
  })
  const shares: Array<number> = []
  const parts: Array<string> = []
  for (let round = 0; round < installs; round++) {
    const { git, own, scan, tool: inTool, total } = yield* install(product, large.url, `large-${round}`)
    shares.push(own)
    parts.push(`${total} = git ${git} + scan ${scan} + tool ${inTool} + own ${own}`)
  }
  const figures: ReadonlyArray<Figure> = [
    { name: "plan + apply through the product against the bare CLI", ...ratio },
    {
      name: "install to reviewable plan, 100 files: not git, scan or tool",
      figure: median(shares),
      unit: "ms",
      target: { atMost: 150 },
      detail: parts[0] ?? ""
    }
  ]
  return figures
}, Effect.scoped)

/** A module with a provider. Both svc and the tool without svc install the plugin from a mirror. */
const withProvider = Effect.fn("withProvider")(function* (binary: string, tool: string) {
  const mirror = yield* selfContainedMirror
  const repository = yield* repositoryOf({ "main.tf": providerModule })
  const product = yield* startProduct(
    ["--git-allow-origins", repository.origin, "--tool", tool, "--provider-mirror", mirror.path],
    [binary]
  )
  const values = { DEMO_TOKEN: "a token of the bench", DEMO_DIR: "/tmp" }
  const { connection } = yield* product.client.connections.create({
    payload: { workspaceId: WorkspaceId.make(product.workspaceId), provider, displayName: "demo", values }
  })
  const options = { providerBindings: [{ provider, moduleLocalName: "demo", connectionId: connection.id }] }
  const ratio = yield* compared({
    byHand: byHand(tool, providerModule, {
      ...mirror.environment,
      DEMO_TOKEN: values.DEMO_TOKEN,
      DEMO_DIR: mirror.notesDir
    }),
    install: (name) => install(product, repository.url, name, options),
    product
  })
  const figure: Figure = { name: "the same for a module with a provider", ...ratio }
  return figure
}, Effect.scoped)

/** Compares plan and apply in svc with the tool alone, and measures the overhead of an install beyond Git, scan and tool. */
export const mainJob = (binary: string, tool: string) =>
  Effect.gen(function* () {
    const [ratio, ...rest] = yield* withoutProvider(binary, tool)
    const second = yield* withProvider(binary, tool)
    return ratio === undefined ? [second] : [ratio, second, ...rest]
  })
