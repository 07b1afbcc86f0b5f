import { statfs } from "node:fs/promises"
import { Effect, Stream } from "effect"
import { ChildProcess, type ChildProcessSpawner } from "effect/process"
import { systemPath } from "../SandboxView.ts"

/**
 * Disk space or memory that svc counts for each file in addition to its contents, because a Run may create millions of empty
 * files.
 */
export const bytesOfFile = 1024

export interface FolderUse {
  /** Size of the contents, plus `bytesOfFile` for each file. */
  readonly bytes: number
  readonly files: number
}

/** Runs `du`. Returns `undefined` if this `du` does not support the option. */
const counted = Effect.fnUntraced(
  function* (spawner: ChildProcessSpawner.ChildProcessSpawner["Service"], ...args: ReadonlyArray<string>) {
    const child = yield* spawner.spawn(
      ChildProcess.make("du", args, {
        env: { PATH: systemPath },
        stdin: "ignore",
        // Ignore errors about files that have disappeared in the meantime.
        stderr: "ignore",
        killSignal: "SIGKILL"
      })
    )
    const output = yield* Stream.mkString(Stream.decodeText(child.stdout))
    const figure = /^(\d+)/.exec(output)?.[1]
    return figure === undefined ? undefined : Number(figure)
  },
  Effect.scoped,
  Effect.orElseSucceed(() => undefined)
)

/**
 * Measures the disk space that these folders use, as far as possible. Uses `du`, which does not follow links that module
 * code created, and which avoids blocking this process for a folder with a million files.
 */
export const folderUse = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  folders: ReadonlyArray<string>
) {
  let use: FolderUse = { bytes: 0, files: 0 }
  for (const folder of folders) {
    const [kibibytes = 0, files = 0] = yield* Effect.all([
      counted(spawner, "-skx", folder),
      // `--inodes` requires GNU `du`.
      counted(spawner, "-sx", "--inodes", folder)
    ])
    use = { bytes: use.bytes + kibibytes * 1024 + files * bytesOfFile, files: use.files + files }
  }
  return use
})

export interface DiskSpace {
  readonly freeBytes: number
  readonly totalBytes: number
  readonly freeFiles: number
  /** The number of files that the file system can hold; `undefined` if the file system does not report it. */
  readonly totalFiles: number
}

/** Returns the free space that users other than root have on a folder's disk. */
export const diskSpace = (folder: string): Effect.Effect<DiskSpace | undefined> =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, blocks, bsize, ffree, files }) => ({
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
      freeFiles: ffree,
      totalFiles: files
    })),
    Effect.orElseSucceed(() => undefined)
  )
