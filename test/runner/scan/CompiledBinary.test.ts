import { expect } from "bun:test"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { fixtureFolder } from "./ScanFixtures.ts"

const repository = join(import.meta.dir, "../../..")

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "compiled-scan-"))),
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
  "a compiled binary finds its parser without the repository",
  () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const binary = join(folder, "scan")
      const entries = ["test/runner/scan/CompiledScan.ts", "runner/scan/HclWorker.ts"]
      const flags = ["--compile", "--minify", "--bytecode", "--root", ".", "--outfile", binary]
      yield* run([process.execPath, "build", ...flags, ...entries], repository)
      const output = yield* run([binary, join(fixtureFolder, "landing")], folder)
      expect(JSON.parse(output)).toEqual([".", "supported", 4])
    }),
  60_000
)
