import { expect } from "bun:test"
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { join } from "node:path"
import { platform } from "../../src/composition/Platform.ts"
import { builtLibrary } from "../support/BuiltLibrary.ts"
import { it } from "../support/Effect.ts"

const root = join(import.meta.dir, "../..")
const compiler = join(root, "node_modules/typescript/bin/tsc")

/** The TypeScript blocks of a document, in order. */
const blocksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => (block === undefined ? [] : [block]))

/** Against the shipped declarations: they cost a fraction of the sources, and are what a reader of the page has. */
const optionsFor = (library: string) => ({
  extends: join(root, "tsconfig.json"),
  compilerOptions: {
    noUnusedLocals: false,
    plugins: [],
    paths: {
      svc: [join(library, "src/index.d.ts")],
      "svc/client": [join(library, "src/client/index.d.ts")],
      "svc/testing": [join(library, "src/testing/index.d.ts")]
    }
  },
  include: ["blocks"]
})

const nameOf = (index: number) => `Block${index + 1}.ts`

/**
 * Compiles each text as a separate module, under the strict options of this repository. Returns the faults that were
 * found.
 */
const faultsOf = Effect.fnUntraced(function* (texts: ReadonlyArray<string>) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-docs-" })
  yield* files.makeDirectory(join(folder, "blocks"))
  yield* files.symlink(join(root, "node_modules"), join(folder, "node_modules"))
  yield* files.writeFileString(
    join(folder, "tsconfig.json"),
    JSON.stringify(optionsFor(yield* Effect.promise(builtLibrary)))
  )
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
  "the code in docs/embedding.md compiles as written",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const blocks = blocksOf(yield* files.readFileString(join(root, "docs/embedding.md")))
      expect(blocks.length).toBeGreaterThan(7)
      // Omits something required: a compiler that finds no fault here has checked nothing.
      const faulty = 'import { layer } from "svc"\nexport const plane = layer({ dataDir: "./plane" })\n'
      const faults = yield* faultsOf([...blocks, faulty])
      const isOfFaulty = (fault: string) => fault.includes(nameOf(blocks.length))
      expect(faults.filter((fault) => !isOfFaulty(fault))).toEqual([])
      expect(faults.filter(isOfFaulty)).not.toEqual([])
    }).pipe(Effect.provide(platform)),
  600_000
)
