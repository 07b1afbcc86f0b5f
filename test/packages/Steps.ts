import { Effect, FileSystem, Path } from "effect"
import { embeddingBlocks, faultsAgainst } from "../examples/support/EmbeddingBlocks.ts"
import { ended, StepFailed, succeeded } from "./Project.ts"

const compilerOptions = {
  target: "ES2024",
  module: "NodeNext",
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  skipLibCheck: false,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ["node"]
}

/** Returns the type errors outside Effect's declarations. */
const errorsOfOurs = (output: string) =>
  output.split("\n").filter((line) => line.includes("error TS") && !line.startsWith("node_modules/effect/"))

/**
 * Compiles a strict consumer with and without `exactOptionalPropertyTypes`. If the DOM types are included, there are no
 * errors. Otherwise, Effect's declarations have some errors and svc's declarations have none.
 */
export const typesAreClean = Effect.fn("typesAreClean")(function* (
  folder: string,
  files: ReadonlyArray<string>,
  short: boolean
) {
  const system = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const exactOptionalPropertyTypes of [true, false]) {
    for (const lib of [["ES2024", "DOM", "DOM.Iterable"], ["ES2024"]]) {
      if (short && lib.length === 1) continue
      const options = { ...compilerOptions, exactOptionalPropertyTypes, lib }
      yield* system.writeFileString(
        path.join(folder, "tsconfig.json"),
        JSON.stringify({ compilerOptions: options, files })
      )
      const { code, output } = yield* ended(folder, "node_modules/.bin/tsc", ["-p", ".", "--checkers", "1"])
      const errors =
        lib.length > 1 ? output.split("\n").filter((line) => line.includes("error TS")) : errorsOfOurs(output)
      if (errors.length > 0 || (lib.length > 1 && code !== 0)) {
        return yield* new StepFailed({ message: `With lib ${lib.join(", ")}:\n${errors.slice(0, 20).join("\n")}` })
      }
    }
  }
})

/** Compiles the code in docs/embedding.md as written, against the declarations of a compiled library. */
export const docsCompile = Effect.fn("docsCompile")(function* (library: string) {
  const { expected, faults } = yield* faultsAgainst(yield* embeddingBlocks, library, ".d.ts")
  if (faults.length > 0) return yield* new StepFailed({ message: faults.join("\n") })
  if (expected.length === 0)
    return yield* new StepFailed({ message: "The compiler found no fault where there is one." })
})

/** Runs the complete demonstration with this machine's tool. */
export const demoWorks = (folder: string, runtime: string, program: string) =>
  succeeded(folder, runtime, [program, "demo"])

/** Requests that Node's and Bun's parsers refuse in different ways. */
const knownDifferences: ReadonlyMap<string, string> = new Map([["H6 bare line feeds: 505", "H6 bare line feeds: 400"]])

/** Checks that a program prints the same lines on every runtime. */
export const sameLines = Effect.fn("sameLines")(function* (expected: string, found: string) {
  const lines = expected.trim().split("\n")
  const others = found.trim().split("\n")
  const different = Array.from({ length: Math.max(lines.length, others.length) }, (_, at) => [lines[at], others[at]])
    .filter(([line, other]) => line !== other && (line === undefined || knownDifferences.get(line) !== other))
    .map(([line, other]) => `expected ${line}\n   found ${other}`)
  if (different.length > 0) return yield* new StepFailed({ message: different.join("\n") })
})
