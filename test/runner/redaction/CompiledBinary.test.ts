import { expect } from "bun:test"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"

const repository = join(import.meta.dir, "../../..")

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "compiled-redaction-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true }))
)

const run = (command: ReadonlyArray<string>, cwd: string) =>
  Effect.promise(async () => {
    const child = Bun.spawn([...command], { cwd, env: { HOME: cwd }, stdout: "pipe", stderr: "pipe" })
    const [output, errors, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited
    ])
    if (code !== 0) throw new Error(errors)
    return output
  })

it.live(
  "a compiled binary finds the thread that hides secrets without the repository",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const binary = join(folder, "redaction")
      const entries = ["test/runner/redaction/CompiledRedaction.ts", "runner/redaction/RedactionWorker.ts"]
      const flags = ["--compile", "--minify", "--root", ".", "--outfile", binary]
      yield* run([process.execPath, "build", ...flags, ...entries], repository)
      expect(yield* run([binary, "a the-secret b"], folder)).toBe("a [redacted env.TOKEN] b\n")
    }),
  60_000
)
