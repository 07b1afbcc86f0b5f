import { Effect, Queue, type Scope, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { type GitError, GitLimitExceeded, GitNativeUnavailable } from "./GitError.ts"
import { type GitObjectSource, missingObject } from "./GitObjects.ts"

export interface NativeObjectsOptions {
  /** Path of git. */
  readonly program: string
  readonly gitdir: string
  /** Larger objects are refused before they are read. */
  readonly fileBytes: number
  /** Limits how much memory git can allocate, even if an object's header understates its size. */
  readonly objectBytes: number
}

const slackBytes = 4096

/** Makes git and its children exit instead of allocating more than this amount at once. */
export const allocationLimit = (objectBytes: number) => ({ GIT_ALLOC_LIMIT: String(objectBytes + slackBytes) })

const newline = 0x0a
const header = /^([0-9a-f]{40}) (commit|tree|blob|tag) (\d+)$/

const isType = (text: string | undefined) => text === "commit" || text === "tree" || text === "blob" || text === "tag"

/**
 * Reads objects from a repository on disk through a single `git cat-file --batch` process, which neither filters nor
 * converts them. Supports only one read at a time.
 */
export const openNativeObjects = Effect.fn("openNativeObjects")(function* (
  options: NativeObjectsOptions
): Effect.fn.Return<GitObjectSource, GitError, ChildProcessSpawner.ChildProcessSpawner | Scope.Scope> {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const requests = yield* Queue.unbounded<Uint8Array>()
  const handle = yield* spawner
    .spawn(
      ChildProcess.make(options.program, [`--git-dir=${options.gitdir}`, "cat-file", "--batch"], {
        env: {
          PATH: process.env["PATH"] ?? "/usr/bin:/bin",
          HOME: options.gitdir,
          LC_ALL: "C",
          GIT_CONFIG_GLOBAL: "/dev/null",
          GIT_CONFIG_NOSYSTEM: "1",
          ...allocationLimit(options.objectBytes),
          GIT_NO_REPLACE_OBJECTS: "1"
        },
        stdin: Stream.fromQueue(requests),
        stderr: "ignore",
        detached: false,
        killSignal: "SIGKILL"
      })
    )
    .pipe(Effect.mapError(() => new GitNativeUnavailable({ message: "The installed git could not be run." })))
  const pull = yield* Stream.toPull(handle.stdout)

  let asked = ""
  const ready: { chunks: Array<Uint8Array>; bytes: number } = { chunks: [], bytes: 0 }

  const more = pull.pipe(
    Effect.mapError(() => missingObject(asked)),
    Effect.map((chunks) => {
      for (const chunk of chunks) {
        ready.chunks.push(chunk)
        ready.bytes += chunk.length
      }
    })
  )

  const take = Effect.fnUntraced(function* (size: number) {
    while (ready.bytes < size) yield* more
    const all = Buffer.concat(ready.chunks)
    ready.chunks = [all.subarray(size)]
    ready.bytes = all.length - size
    return all.subarray(0, size)
  })

  const takeLine = Effect.fnUntraced(function* () {
    while (!ready.chunks.some((chunk) => chunk.includes(newline))) yield* more
    const end = Buffer.concat(ready.chunks).indexOf(newline)
    return (yield* take(end + 1)).toString("latin1", 0, end)
  })

  return {
    read: Effect.fnUntraced(function* (oid) {
      asked = oid
      yield* Queue.offer(requests, Buffer.from(`${oid}\n`))
      const [, found, type, size] = header.exec(yield* takeLine()) ?? []
      if (found !== oid || !isType(type)) return yield* missingObject(oid)
      if (Number(size) > options.fileBytes)
        return yield* new GitLimitExceeded({
          limit: "fileBytes",
          maximum: options.fileBytes,
          message: `A file of the commit is larger than the ${options.fileBytes} bytes this service accepts.`
        })
      const bytes = yield* take(Number(size))
      yield* take(1)
      return { type, bytes }
    })
  }
})
