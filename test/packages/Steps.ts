import { Effect, FileSystem, Path } from "effect"
import { ended, StepFailed, succeeded } from "./Project.ts"

const compilerOptions = {
  target: "ES2024",
  module: "NodeNext",
  strict: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  skipLibCheck: false,
  noEmit: true,
  types: ["node"]
}

/** Errors of the checker outside of the declarations of Effect. */
const errorsOfOurs = (output: string) =>
  output.split("\n").filter((line) => line.includes("error TS") && !line.startsWith("node_modules/effect/"))

/**
 * A strict consumer compiles, with and without `exactOptionalPropertyTypes`. With the types of the DOM there is no error at all; without
 * them the declarations of Effect have some, and nothing of ours.
 */
export const typesAreClean = Effect.fn("typesAreClean")(function* (folder: string, files: ReadonlyArray<string>) {
  const system = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const exactOptionalPropertyTypes of [true, false]) {
    for (const lib of [["ES2024", "DOM", "DOM.Iterable"], ["ES2024"]]) {
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

/** The whole job of the demonstration, with the tool of this machine. */
export const demoWorks = (folder: string, program: string) =>
  succeeded(folder, program, ["node_modules/@svc-dev/server/dist/src/Main.js", "demo"])

/** Requests for which the parser of Node has another refusal than the one of Bun. */
const knownDifferences: ReadonlyMap<string, string> = new Map([["H6 bare line feeds: 505", "H6 bare line feeds: 400"]])

/** A program finds on one runtime what it finds on another, line by line. */
export const sameLines = Effect.fn("sameLines")(function* (expected: string, found: string) {
  const lines = expected.trim().split("\n")
  const others = found.trim().split("\n")
  const different = Array.from({ length: Math.max(lines.length, others.length) }, (_, at) => [lines[at], others[at]])
    .filter(([line, other]) => line !== other && (line === undefined || knownDifferences.get(line) !== other))
    .map(([line, other]) => `expected ${line}\n   found ${other}`)
  if (different.length > 0) return yield* new StepFailed({ message: different.join("\n") })
})
