import { expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { dirname, join } from "node:path"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { embeddingBlocks, faultsAgainst } from "./support/EmbeddingBlocks.ts"

const root = join(import.meta.dir, "../..")

/**
 * Copies the sources, so that the compiler reads the copy without checking it. `npm run check` checks the sources. Checking
 * them here would take ten times as long.
 */
const uncheckedSources = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const copy = yield* files.makeTempDirectoryScoped({ prefix: "svc-sources-" })
  yield* files.symlink(join(root, "node_modules"), join(copy, "node_modules"))
  yield* files.copyFile(join(root, "package.json"), join(copy, "package.json"))
  for (const room of ["schema", "runner", "actors", "src"]) {
    for (const name of yield* files.readDirectory(join(root, room), { recursive: true })) {
      if (!/\.tsx?$/.test(name)) continue
      const to = join(copy, room, name)
      yield* files.makeDirectory(dirname(to), { recursive: true })
      yield* files.writeFileString(to, `// @ts-nocheck\n${yield* files.readFileString(join(root, room, name))}`)
    }
  }
  return copy
})

// `npm run test:packages` compiles the same code against the shipped declarations.
it.live(
  "the code in docs/embedding.md compiles as written",
  () =>
    Effect.gen(function* () {
      const blocks = yield* embeddingBlocks
      expect(blocks.length).toBeGreaterThan(7)
      const { expected, faults } = yield* faultsAgainst(blocks, yield* uncheckedSources, ".ts")
      expect(faults).toEqual([])
      expect(expected).not.toEqual([])
    }).pipe(Effect.provide(platform)),
  600_000
)
