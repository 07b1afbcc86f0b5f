// `npm run test:mutants`: breaks each guard of the lists in a copy of the code, and expects its test to fail. With `--
// --short` one guard of each list, without running the tests on intact code; with `-- --only NAME` those whose name
// contains NAME.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import type { Mutant } from "./Mutant.ts"
import { mutants, shortMutants } from "./Mutants.ts"

class GuardUntested extends Schema.TaggedError<GuardUntested>()("GuardUntested", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const copied = ["schema", "runner", "actors", "src", "test", "package.json", "tsconfig.json", "bunfig.toml"]
const root = process.cwd()
const isShort = process.argv.includes("--short")
const word = process.argv.slice(2).find((argument) => !argument.startsWith("--")) ?? ""

/** Whether the test passes in the copy. */
const passes = Effect.fnUntraced(function* (folder: string, test: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(process.execPath, ["test", "--timeout", "60000", `./${test}`], { cwd: folder, extendEnv: true })
  )
  const [, code] = yield* Effect.all([Stream.runDrain(handle.all), handle.exitCode], { concurrency: 2 })
  return Number(code) === 0
}, Effect.scoped)

const isNoticed = Effect.fnUntraced(function* (folder: string, { broken, file, test, text }: Mutant) {
  const files = yield* FileSystem.FileSystem
  const path = `${folder}/${file}`
  const sound = yield* files.readFileString(path)
  yield* files.writeFileString(
    path,
    sound.replace(text, () => broken)
  )
  const noticed = !(yield* passes(folder, test))
  yield* files.writeFileString(path, sound)
  return noticed
})

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-mutants-" })
  for (const name of copied) yield* files.copy(`${root}/${name}`, `${folder}/${name}`)
  yield* files.symlink(`${root}/node_modules`, `${folder}/node_modules`)
  const chosen = (isShort ? shortMutants : mutants).filter(({ name }) => name.includes(word))
  const wrong: Array<string> = []
  for (const test of isShort ? [] : new Set(chosen.map((guard) => guard.test))) {
    if (!(yield* passes(folder, test))) wrong.push(`${test} fails on sound code`)
  }
  let missed = 0
  for (const guard of chosen) {
    const noticed = yield* isNoticed(folder, guard)
    yield* Console.log(`${noticed ? "noticed" : "MISSED "} ${guard.name}`)
    if (noticed) continue
    missed++
    wrong.push(`${guard.test} passes without the guard "${guard.name}"`)
  }
  yield* Console.log(`\n ${chosen.length - missed} pass\n ${missed} fail`)
  if (wrong.length > 0) return yield* new GuardUntested({ message: wrong.join("\n") })
})

NodeRuntime.runMain(program.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
