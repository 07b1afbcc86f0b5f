import { Effect, FileSystem, Schedule } from "effect"
import { GitLimitExceeded } from "../git/GitError.ts"

const pollInterval = "50 millis"

/** Memory in use by a process and its descendants, in bytes; 0 if the system does not report it. */
const treeMemory = Effect.fnUntraced(function* (pid: number): Effect.fn.Return<number, never, FileSystem.FileSystem> {
  const fileSystem = yield* FileSystem.FileSystem
  // Processes start and exit during the reads.
  const read = (path: string) => fileSystem.readFileString(path).pipe(Effect.orElseSucceed(() => ""))
  const status = yield* read(`/proc/${pid}/status`)
  const kibibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
  const children = (yield* read(`/proc/${pid}/task/${pid}/children`)).split(" ").filter((text) => text.trim() !== "")
  let total = kibibytes * 1024
  for (const child of children) {
    const below = yield* treeMemory(Number(child))
    total += below
  }
  return total
})

/** Fails once a process and its descendants exceed the allowed memory. A small repository can unpack to gigabytes. */
export const watchMemory = (
  pid: number,
  maximum: number
): Effect.Effect<never, GitLimitExceeded, FileSystem.FileSystem> =>
  treeMemory(pid).pipe(
    Effect.flatMap((bytes) =>
      bytes > maximum
        ? Effect.fail(
            new GitLimitExceeded({
              limit: "rssBytes",
              maximum,
              message:
                "Unpacking the repository needs more memory than this service allows. It may hold very large files."
            })
          )
        : Effect.void
    ),
    Effect.repeat(Schedule.spaced(pollInterval)),
    Effect.andThen(Effect.never)
  )
