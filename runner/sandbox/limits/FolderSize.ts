import { statfs } from "node:fs/promises"
import { Effect, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import { systemPath } from "../SandboxView.ts"

/**
 * The disk usage of a folder in bytes, undefined if unknown. `du`, rather than this process, walks the folder: it does not follow
 * links planted by module code, and a folder with a million files does not block anything else.
 */
export const folderBytes = Effect.fnUntraced(
  function* (spawner: ChildProcessSpawner.ChildProcessSpawner["Service"], folder: string) {
    const child = yield* spawner.spawn(
      ChildProcess.make("du", ["-skx", folder], {
        env: { PATH: systemPath },
        stdin: "ignore",
        // Files that vanish in the meantime are ignored.
        stderr: "ignore",
        killSignal: "SIGKILL"
      })
    )
    const output = yield* Stream.mkString(Stream.decodeText(child.stdout))
    const kibibytes = /^(\d+)/.exec(output)?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  },
  Effect.scoped,
  Effect.orElseSucceed(() => undefined)
)

export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** The free space on a folder's disk, as available to non-root users. */
export const diskSpace = (folder: string): Effect.Effect<DiskSpace | undefined> =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize })),
    Effect.orElseSucceed(() => undefined)
  )
