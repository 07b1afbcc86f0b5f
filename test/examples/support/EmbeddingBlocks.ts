import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { join } from "node:path"

const root = join(import.meta.dir, "../../..")
const compiler = join(root, "node_modules/typescript/bin/tsc")

/** Returns the TypeScript blocks of docs/embedding.md, in order. */
export const embeddingBlocks = Effect.gen(function* () {
  const text = yield* (yield* FileSystem.FileSystem).readFileString(join(root, "docs/embedding.md"))
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => (block === undefined ? [] : [block]))
})

/** Returns compiler options that map the published names to the modules in a folder of sources or declarations. */
const optionsFor = (folder: string, extension: ".ts" | ".d.ts") => ({
  extends: join(root, "tsconfig.json"),
  compilerOptions: {
    noUnusedLocals: false,
    plugins: [],
    paths: {
      "@svc-dev/server": [join(folder, `src/index${extension}`)],
      "@svc-dev/client": [join(folder, `src/client/index${extension}`)],
      "@svc-dev/server/testing": [join(folder, `src/testing/index${extension}`)]
    }
  },
  include: ["blocks"]
})

const nameOf = (index: number) => `Block${index + 1}.ts`

/** Omits a required property. If the compiler finds no error here, it has not checked the code. */
const faulty = 'import { layer } from "@svc-dev/server"\nexport const plane = layer({ dataDir: "./plane" })\n'

/**
 * Compiles each block as a separate module against the library in a folder, under this repository's strict options. Returns the
 * errors in the blocks, and the errors in a block that is known to have an error.
 */
export const faultsAgainst = Effect.fn("faultsAgainst")(function* (
  texts: ReadonlyArray<string>,
  library: string,
  extension: ".ts" | ".d.ts"
) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-docs-" })
  yield* files.makeDirectory(join(folder, "blocks"))
  yield* files.symlink(join(root, "node_modules"), join(folder, "node_modules"))
  yield* files.writeFileString(join(folder, "tsconfig.json"), JSON.stringify(optionsFor(library, extension)))
  for (const [index, text] of [...texts, faulty].entries()) {
    yield* files.writeFileString(join(folder, "blocks", nameOf(index)), text)
  }
  const child = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [compiler, "-p", folder, "--pretty", "false"], { extendEnv: true })
  )
  const said = yield* Stream.mkString(Stream.decodeText(child.all))
  const faults = said.split("\n").filter((line) => line.includes("error TS"))
  const isOfFaulty = (fault: string) => fault.includes(nameOf(texts.length))
  return { faults: faults.filter((fault) => !isOfFaulty(fault)), expected: faults.filter(isOfFaulty) }
}, Effect.scoped)
