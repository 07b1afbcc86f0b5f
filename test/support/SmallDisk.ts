import { spawnSync } from "node:child_process"
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, FileSystem, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

class MountFailed extends Schema.TaggedError<MountFailed>()("MountFailed", { message: Schema.String }) {}

/** The reason why no file system can be mounted here; `undefined` if mounting works. */
export const mountRefusal: string | undefined = (() => {
  if (process.getuid?.() !== 0) return "only root may mount a file system"
  const folder = mkdtempSync(join(tmpdir(), "svc-mount-"))
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "svc-probe", folder])
  if (status === 0) spawnSync("umount", ["-l", folder])
  rmdirSync(folder)
  return status === 0 ? undefined : `mount is refused here: ${String(stderr).trim()}`
})()

const block = new Uint8Array(64 * 1024)

const run = Effect.fnUntraced(function* (program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const code = yield* spawner.exitCode(ChildProcess.make(program, args))
  if (Number(code) !== 0) return yield* new MountFailed({ message: `${program} ${args.join(" ")} ended with ${code}` })
})

/** Mounts a separate file system on a folder until the Scope closes. */
export const smallDisk = Effect.fn("smallDisk")(function* (folder: string, megabytes = 96) {
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
  return {
    fill,
    free: Effect.sync(() => rmSync(filler, { force: true })),
    /** Resizes the file system. */
    resize: (size: number) => run("mount", "-o", `remount,size=${size}m`, folder)
  }
})
