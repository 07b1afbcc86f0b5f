// `npm run test:scan-oracle [-- --short] [-- --seed N] [-- --count N]`: compares the scan's verdicts on generated modules
// with those of the `terraform` on PATH. Each disagreement must be explained in docs/scan.md.
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Layer, Schema } from "effect"
import { parseArgs } from "node:util"
import { ModuleScanner } from "../../runner/scan/ModuleScanner.ts"
import { platform } from "../../src/composition/Platform.ts"
import { laxer, rulesFor, stricter } from "./Disagreements.ts"
import { snippets, textOf } from "./Snippets.ts"
import { verdictsOn } from "./Verdicts.ts"

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { short: { type: "boolean", default: false }, seed: { type: "string" }, count: { type: "string" } }
})

const Version = Schema.fromJsonString(Schema.Struct({ terraform_version: Schema.String }))

const installed = Effect.gen(function* () {
  if (Bun.which("terraform") === null) return yield* Effect.die("This suite needs terraform on PATH.")
  const output = yield* Effect.promise(() =>
    Bun.$`terraform version -json`
      .env({ ...process.env, CHECKPOINT_DISABLE: "1" })
      .quiet()
      .text()
  )
  return (yield* Schema.decodeEffect(Version)(output)).terraform_version
})

const undocumented = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const page = yield* files.readFileString(new URL("../../docs/scan.md", import.meta.url).pathname)
  return [...stricter, ...laxer].filter(({ rule }) => !page.includes(`| ${rule} |`)).map(({ rule }) => rule)
})

const program = Effect.gen(function* () {
  const seed = Number(values.seed ?? (yield* Clock.currentTimeMillis) % 1_000_000)
  const version = yield* installed
  const wanted = Number(values.count ?? (values.short ? 220 : 1000))
  const drawn = snippets(wanted, seed)
  yield* Console.log(`${drawn.length} snippets against terraform ${version}, seed ${seed}`)
  const judged = yield* Effect.forEach(
    drawn,
    (snippet) => Effect.map(verdictsOn(snippet, version), (verdicts) => ({ snippet, verdicts })),
    {
      concurrency: 2
    }
  )
  const counts = new Map<string, number>()
  const unexplained = judged.filter(({ snippet, verdicts }) => {
    const rules = rulesFor(verdicts, textOf(snippet.files))
    for (const rule of rules ?? []) counts.set(rule, (counts.get(rule) ?? 0) + 1)
    return rules === undefined
  })
  for (const { snippet, verdicts } of unexplained) {
    yield* Console.log(`${verdicts.scan.length > 0 ? "STRICTER" : "LAXER"}: ${snippet.kind}\n${textOf(snippet.files)}`)
    yield* Console.log([...verdicts.scan, ...verdicts.tool].map((reason) => `    ${reason}`).join("\n"))
  }
  const explained = [...counts].map(([rule, count]) => `${rule} ${count}`).sort()
  yield* Console.log(`explained disagreements: ${explained.join(", ")}`)
  const missing = yield* undocumented
  if (missing.length > 0) yield* Console.log(`not in docs/scan.md: ${missing.join(", ")}`)
  const failed = unexplained.length + missing.length
  yield* Console.log(` ${drawn.length - unexplained.length} pass\n ${failed} fail`)
  if (failed > 0) return yield* Effect.die(`Repeat with --seed ${seed} --count ${wanted}`)
}).pipe(Effect.provide(Layer.mergeAll(platform, ModuleScanner.layer)))

NodeRuntime.runMain(program)
