import { expect } from "bun:test"
import { Effect } from "effect"
import { runCompiled } from "../../support/CompiledProgram.ts"
import { it } from "../../support/Effect.ts"

it.live(
  "a compiled binary finds the redaction thread without the repository",
  () =>
    Effect.gen(function* () {
      const output = yield* runCompiled({
        entries: ["test/runner/redaction/CompiledRedaction.ts", "runner/redaction/RedactionWorker.ts"],
        args: ["a the-secret b"]
      })
      expect(output).toBe("a [redacted env.TOKEN] b\n")
    }),
  60_000
)
