import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

const repository = join(import.meta.dir, "../..")

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

/**
 * Compiles the entry points, given by their paths from the repository root, into one binary, runs it in a folder without access
 * to the repository, and returns its output.
 */
export const runCompiled = Effect.fn("runCompiled")(function* (options: {
  readonly entries: ReadonlyArray<string>
  readonly flags?: ReadonlyArray<string>
  readonly args: ReadonlyArray<string>
}) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "compiled-program-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true }))
  )
  const binary = join(folder, "program")
  const flags = ["--compile", "--minify", ...(options.flags ?? []), "--root", ".", "--outfile", binary]
  yield* run([process.execPath, "build", ...flags, ...options.entries], repository)
  return yield* run([binary, ...options.args], folder)
}, Effect.scoped)
