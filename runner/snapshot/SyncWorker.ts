import { Duration, Effect, type FileSystem, type Scope } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import type { GitError } from "../git/GitError.ts"
import type { GitObjectSource } from "../git/GitObjects.ts"
import { makeGitTransport } from "../git/GitTransport.ts"
import { fetchIsomorphic, type FetchRequest } from "../git/IsomorphicFetch.ts"
import { fetchNative } from "../git/NativeGit.ts"
import { openNativeObjects } from "../git/NativeObjects.ts"
import { packBounds } from "../git/PackBounds.ts"
import { buildSnapshot } from "./SnapshotBuild.ts"
import type { SnapshotError } from "./SnapshotError.ts"
import type { SyncedSnapshot } from "./SyncedSnapshot.ts"
import { archiveName, type SyncJob } from "./SyncProtocol.ts"

const progressStep = 10

/** Reports progress of the transfer when its phase changes or it has advanced noticeably. */
const throttle = (emit: (line: string) => void) => {
  let lastPhase = ""
  let lastPercent = 0
  return (phase: string, percent: number) => {
    if (phase === lastPhase && percent < lastPercent + progressStep) return
    lastPhase = phase
    lastPercent = percent - (percent % progressStep)
    emit(`${phase}: ${percent}%`)
  }
}

const fetchByLibrary = Effect.fnUntraced(function* (job: SyncJob, request: FetchRequest) {
  const abort = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (controller) => Effect.sync(() => controller.abort())
  )
  const transport = makeGitTransport(job.endpoint, {
    credentials: job.credentials,
    maximum: { limit: "packBytes", bytes: job.limits.packBytes },
    idle: Duration.millis(job.limits.idleMillis),
    signal: abort.signal
  })
  return yield* fetchIsomorphic(transport, request, packBounds(job.limits))
})

const fetchByGit = Effect.fnUntraced(function* (job: SyncJob, program: string, request: FetchRequest) {
  const { fileBytes } = job.limits
  const { objectBytes } = packBounds(job.limits)
  yield* fetchNative(
    {
      program,
      endpoint: job.endpoint,
      credentials: job.credentials,
      packBytes: job.limits.packBytes,
      fileBytes,
      objectBytes,
      idleMillis: job.limits.idleMillis
    },
    request
  )
  return yield* openNativeObjects({ program, gitdir: request.gitdir, fileBytes, objectBytes })
})

const fetchObjects = Effect.fnUntraced(function* (
  job: SyncJob,
  emit: (line: string) => void
): Effect.fn.Return<GitObjectSource, GitError, ChildProcessSpawner.ChildProcessSpawner | Scope.Scope> {
  const request = (name: string): FetchRequest => ({
    url: job.endpoint.url,
    oid: job.oid,
    gitdir: `${job.folder}/${name}`,
    onProgress: throttle(emit)
  })
  const { native } = job
  if (native === undefined) return yield* fetchByLibrary(job, request("library.git"))
  const fetched = fetchByGit(job, native.program, request("native.git"))
  if (native.required) return yield* fetched
  return yield* Effect.catchTag(fetched, "GitNativeUnavailable", () => {
    emit("The installed git cannot fetch this repository; trying without it.")
    return fetchByLibrary(job, request("library.git"))
  })
})

/** Executes one job: fetches the commit and writes its archive to the job's folder. `emit` receives lines for the user. */
export const runSyncJob = Effect.fn("runSyncJob")(function* (
  job: SyncJob,
  emit: (line: string) => void
): Effect.fn.Return<
  SyncedSnapshot,
  GitError | SnapshotError,
  ChildProcessSpawner.ChildProcessSpawner | FileSystem.FileSystem
> {
  return yield* Effect.gen(function* () {
    const source = yield* fetchObjects(job, emit)
    emit("Archiving.")
    const snapshot = yield* buildSnapshot(source, job, `${job.folder}/${archiveName}`)
    emit(`Archived ${snapshot.fileCount} files, ${snapshot.archiveSizeBytes} bytes.`)
    return snapshot
  }).pipe(Effect.scoped)
})
