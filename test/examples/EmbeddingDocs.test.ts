import { expect } from "bun:test"
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { join } from "node:path"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"

const root = join(import.meta.dir, "../..")
const compiler = join(root, "node_modules/typescript/bin/tsc")

/** The TypeScript blocks of a document, in order. */
const blocksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => (block === undefined ? [] : [block]))

const options = {
  extends: join(root, "tsconfig.json"),
  compilerOptions: {
    noUnusedLocals: false,
    plugins: [],
    paths: {
      svc: [join(root, "src/index.ts")],
      "svc/client": [join(root, "src/client/index.ts")],
      "svc/testing": [join(root, "src/testing/index.ts")]
    }
  },
  include: ["blocks"]
}

const nameOf = (index: number) => `Block${index + 1}.ts`

/** Compiles each text as a module of its own, under the strict options of this repository. Gives the faults that were found. */
const faultsOf = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-docs-" })
  yield* files.makeDirectory(join(folder, "blocks"))
  yield* files.symlink(join(root, "node_modules"), join(folder, "node_modules"))
  yield* files.writeFileString(join(folder, "tsconfig.json"), JSON.stringify(options))
  for (const [index, text] of texts.entries()) {
    yield* files.writeFileString(join(folder, "blocks", nameOf(index)), text)
  }
  const child = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [compiler, "-p", folder, "--pretty", "false"], { extendEnv: true })
  )
  const said = yield* Stream.mkString(Stream.decodeText(child.all))
  return said.split("\n").filter((line) => line.includes("error TS"))
})

it.live(
  "the code of docs/embedding.md compiles as it is written",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const blocks = blocksOf(yield* files.readFileString(join(root, "docs/embedding.md")))
      expect(blocks.length).toBeGreaterThan(7)
      // Leaves out what is required: a compiler that finds nothing in it has looked at nothing.
      const faulty = 'import { layer } from "svc"\nexport const plane = layer({ dataDir: "./plane" })\n'
      const faults = yield* faultsOf([...blocks, faulty])
      const isOfFaulty = (fault: string) => fault.includes(nameOf(blocks.length))
      expect(faults.filter((fault) => !isOfFaulty(fault))).toEqual([])
      expect(faults.filter(isOfFaulty)).not.toEqual([])
    }).pipe(Effect.provide(platform)),
  600_000
)
