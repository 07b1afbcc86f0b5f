import { statfs } from "node:fs/promises"
import { Effect, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import { systemPath } from "../SandboxView.ts"

/**
 * Bytes that a folder takes on the disk, undefined when that cannot be found out. `du` walks it rather than this process: it follows no
 * link that module code puts in its way, and a folder of a million files holds up nobody else.
 */
export const folderBytes = Effect.fnUntraced(
  function* (spawner: ChildProcessSpawner.ChildProcessSpawner["Service"], folder: string) {
    const child = yield* spawner.spawn(
      ChildProcess.make("du", ["-skx", folder], {
        env: { PATH: systemPath },
        stdin: "ignore",
        // What vanishes while it looks is not worth a word.
        stderr: "ignore",
        killSignal: "SIGKILL"
      })
    )
    const said = yield* Stream.mkString(Stream.decodeText(child.stdout))
    const kibibytes = /^(\d+)/.exec(said)?.[1]
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
  },
  Effect.scoped,
  Effect.orElseSucceed(() => undefined)
)

export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
}

/** Room on the disk of a folder for whoever is not root. */
export const diskSpace = (folder: string): Effect.Effect<DiskSpace | undefined> =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize })),
    Effect.orElseSucceed(() => undefined)
  )
