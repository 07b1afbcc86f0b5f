import { Context, Effect, FileSystem, Schedule, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { GitLimitExceeded } from "../git/GitError.ts"
import { SnapshotSyncFailed } from "./SnapshotError.ts"
import { SyncProcessCommand } from "./SyncProcessCommand.ts"
import { type SyncJob, SyncJobText, type SyncOutcome, SyncOutcomeText } from "./SyncProtocol.ts"

const pollInterval = "50 millis"

/** Returns the memory of a process and its descendants in bytes, or 0 if the system does not report it. */
const treeMemory = Effect.fnUntraced(function* (pid: number): Effect.fn.Return<number, never, FileSystem.FileSystem> {
  const fileSystem = yield* FileSystem.FileSystem
  // Ignore files that disappear, because processes start and exit during the read.
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

/**
 * Fails as soon as a process and its descendants use more memory than allowed, because a small repository can unpack to
 * gigabytes.
 */
const watchMemory = (pid: number, maximum: number): Effect.Effect<never, GitLimitExceeded, FileSystem.FileSystem> =>
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

const maxProgressLines = 10_000
const maxProgressCharacters = 500

export interface SyncConditions {
  /** Maximum memory of the process and its children. */
  readonly rssBytes: number
  /** Called with progress lines, which are shown to people and contain no secrets. */
  readonly onProgress: (line: string) => Effect.Effect<void>
}

export interface SyncExecutorShape {
  readonly execute: (
    job: SyncJob,
    conditions: SyncConditions
  ) => Effect.Effect<
    SyncOutcome,
    SnapshotSyncFailed | GitLimitExceeded,
    ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem
  >
}

/**
 * Returns the environment of the process. The environment contains only settings that locate programs and trusted
 * certificates, never svc's own settings.
 */
const processEnvironment = (folder: string): Record<string, string> => {
  const passed = ["PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), HOME: folder, TMPDIR: folder }
}

const executeInProcess: SyncExecutorShape["execute"] = Effect.fnUntraced(function* (job, { onProgress, rssBytes }) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const { program, args } = yield* SyncProcessCommand
  const input = yield* Effect.orDie(Schema.encodeEffect(SyncJobText)(job))
  const handle = yield* spawner
    .spawn(
      ChildProcess.make(program, args, {
        cwd: job.folder,
        env: processEnvironment(job.folder),
        // Keep the process's input open, because the process exits when its input closes.
        stdin: Stream.concat(Stream.make(Buffer.from(`${input}\n`)), Stream.never),
        detached: true,
        killSignal: "SIGKILL"
      })
    )
    .pipe(Effect.mapError(() => new SnapshotSyncFailed({ message: "The process that fetches could not be started." })))
  const progress = handle.stderr.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.take(maxProgressLines),
    Stream.runForEach((line) => onProgress(line.slice(0, maxProgressCharacters))),
    Effect.ignore
  )
  const answer = handle.stdout.pipe(Stream.decodeText(), Stream.mkString)
  const outcome = Effect.all([answer, progress], { concurrency: 2 }).pipe(
    Effect.flatMap(([text]) => Schema.decodeEffect(SyncOutcomeText)(text)),
    Effect.mapError(
      () => new SnapshotSyncFailed({ message: "The process that fetches ended without a result. Sync again." })
    )
  )
  return yield* Effect.raceFirst(outcome, watchMemory(handle.pid, rssBytes))
}, Effect.scoped)

/** Runs a sync job in a separate process. Kills the process if it uses too much memory, or when the call ends. */
export const SyncExecutor = Context.Reference<SyncExecutorShape>("svc/runner/snapshot/SyncExecutor", {
  defaultValue: () => ({ execute: executeInProcess })
})
