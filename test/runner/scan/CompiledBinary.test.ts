import { expect } from "bun:test"
import { join } from "node:path"
import { Effect } from "effect"
import { runCompiled } from "../../support/CompiledProgram.ts"
import { it } from "../../support/Effect.ts"
import { fixtureFolder } from "./ScanFixtures.ts"

it.live(
  "a compiled binary finds its parser without the repository",
  () =>
    Effect.gen(function* () {
      const output = yield* runCompiled({
        entries: ["test/runner/scan/CompiledScan.ts", "runner/scan/EmbeddedHclWorker.ts"],
        flags: ["--bytecode"],
        args: [join(fixtureFolder, "landing")]
      })
      expect(JSON.parse(output)).toEqual([".", "supported", 4])
    }),
  60_000
)
