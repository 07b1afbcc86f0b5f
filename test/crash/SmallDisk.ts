import { closeSync, openSync, rmSync, writeSync } from "node:fs"
import { Effect, FileSystem, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

class MountFailed extends Schema.TaggedError<MountFailed>()("MountFailed", { message: Schema.String }) {}

const megabytes = 96
const block = new Uint8Array(64 * 1024)

const run = Effect.fnUntraced(function* (program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const code = yield* spawner.exitCode(ChildProcess.make(program, args))
  if (Number(code) !== 0) return yield* new MountFailed({ message: `${program} ${args.join(" ")} ended with ${code}` })
})

/** A separate file system on a folder, unmounted with the Scope. Needs root. */
export const smallDisk = Effect.fn("smallDisk")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  yield* files.makeDirectory(folder, { recursive: true })
  yield* Effect.acquireRelease(run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "svc-crash", folder), () =>
    Effect.ignore(run("umount", "-l", folder))
  )
  const filler = `${folder}/filler`
  const fill = Effect.sync(() => {
    const file = openSync(filler, "a")
    try {
      for (let size = block.length; size >= 1; size = Math.floor(size / 2)) {
        for (;;) {
          try {
            if (writeSync(file, block, 0, size) < size) break
          } catch {
            break
          }
        }
      }
    } finally {
      closeSync(file)
    }
  })
  return { fill, free: Effect.sync(() => rmSync(filler, { force: true })) }
})
