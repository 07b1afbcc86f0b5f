import { Duration, Effect, type FileSystem, Result, type Scope } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { type GitError, GitLimitExceeded, GitRefMoved } from "../git/GitError.ts"
import { type GitObjectSource, parseTree, peelToCommit, readVerified, type TreeEntry } from "../git/GitObjects.ts"
import { makeGitTransport } from "../git/GitTransport.ts"
import { fetchIsomorphic, type FetchRequest } from "../git/IsomorphicFetch.ts"
import { fetchNative } from "../git/NativeGit.ts"
import { openNativeObjects } from "../git/NativeObjects.ts"
import { packBounds } from "../git/PackBounds.ts"
import { SnapshotEmpty, type SnapshotError, SnapshotPathNotFound, SnapshotPathRefused } from "./SnapshotError.ts"
import { type FoundManifest, manifestMaxBytes, type SyncedSnapshot } from "./SyncedSnapshot.ts"
import { archiveName, type SyncJob } from "./SyncProtocol.ts"
import { makeArchiveWriter } from "./ArchiveWriter.ts"
import type { OmittedRecord } from "./ArchiveFormat.ts"
import {
  comparePaths,
  describeRefusedName,
  hostileName,
  namesByForm,
  printableName,
  TreePathRegistry,
  unstorableName
} from "./TreePath.ts"

interface WalkedFile {
  readonly path: string
  readonly oid: string
  readonly executable: boolean
}

interface WalkedTree {
  /** Regular files, sorted by the bytes of their paths. */
  readonly files: ReadonlyArray<WalkedFile>
  readonly omitted: ReadonlyArray<OmittedRecord>
  /** Reasons, shown to people, why the snapshot omits entries that Git allows. */
  readonly unstorable: ReadonlyArray<string>
}

interface WalkLimits {
  readonly files: number
  readonly depth: number
}

const readEntries = Effect.fnUntraced(function* (
  source: GitObjectSource,
  tree: string
): Effect.fn.Return<ReadonlyArray<TreeEntry>, GitError> {
  return yield* Effect.fromResult(parseTree(tree, yield* readVerified(source, tree, "tree")))
})

/** Finds the tree of a folder below `root`; `.` is the root. Does not follow links. */
const findFolder = Effect.fnUntraced(function* (
  source: GitObjectSource,
  root: string,
  path: string
): Effect.fn.Return<string, GitError | SnapshotPathNotFound> {
  let tree = root
  if (path === ".") return tree
  for (const segment of path.split("/")) {
    const entry = (yield* readEntries(source, tree)).find((candidate) => candidate.name === segment)
    if (entry === undefined || entry.kind !== "tree")
      return yield* new SnapshotPathNotFound({
        path,
        message:
          entry === undefined
            ? `The commit has no folder ${path}.`
            : `${path} is not a folder of the commit: part of it is a file, a link or a submodule.`
      })
    tree = entry.oid
  }
  return tree
})

/**
 * Finds an entry by its path from `root`. Returns `undefined` if the entry does not exist. If an entry along the path is not
 * a folder, returns the first such entry.
 */
const findEntry = Effect.fnUntraced(function* (
  source: GitObjectSource,
  root: string,
  segments: ReadonlyArray<string>
): Effect.fn.Return<TreeEntry | undefined, GitError> {
  let tree = root
  for (const [index, segment] of segments.entries()) {
    const entry = (yield* readEntries(source, tree)).find((candidate) => candidate.name === segment)
    if (entry === undefined || index === segments.length - 1 || entry.kind !== "tree") return entry
    tree = entry.oid
  }
  return undefined
})

/**
 * Lists everything below a tree: regular files, and (as omitted entries) links, submodules and unknown kinds. Also omits
 * entries whose names cannot be stored, and all entries of a folder whose names differ only in case or Unicode form, because
 * svc cannot choose between them. If such an entry is a folder, omits the folder with all its contents. Fails if it finds a
 * name that Git never writes.
 */
const walkTree = Effect.fn("walkTree")(function* (
  source: GitObjectSource,
  request: { readonly tree: string; readonly path: string; readonly limits: WalkLimits }
): Effect.fn.Return<WalkedTree, GitError | SnapshotPathRefused | SnapshotEmpty> {
  const { limits } = request
  const paths = new TreePathRegistry()
  const files: Array<WalkedFile> = []
  const omitted: Array<OmittedRecord> = []
  const unstorable: Array<string> = []
  let seen = 0

  /** Records the entries of a folder that cannot be stored, and returns all other entries. */
  const storable = (entries: ReadonlyArray<TreeEntry>, prefix: string): ReadonlyArray<TreeEntry> => {
    const omit = (entry: TreeEntry) =>
      omitted.push({ path: `${prefix}${entry.name}`, kind: "special", mode: entry.mode, oid: entry.oid })
    return [...namesByForm(entries).values()].flatMap((group) => {
      const [entry, ...others] = group
      if (entry === undefined) return []
      const reason = unstorableName(entry.name)
      if (others.length === 0 && reason === undefined) return [entry]
      for (const each of group) omit(each)
      const [first = "", second = ""] = group.map(({ name }) => printableName(`${prefix}${name}`))
      unstorable.push(
        others.length === 0
          ? `${first} ${reason}`
          : first === second
            ? `${first} appears twice`
            : `${first} and ${second} differ only by case or Unicode form`
      )
      return []
    })
  }

  const visit = Effect.fnUntraced(function* (
    tree: string,
    prefix: string,
    depth: number
  ): Effect.fn.Return<void, GitError | SnapshotPathRefused> {
    if (depth > limits.depth)
      return yield* new GitLimitExceeded({
        limit: "depth",
        maximum: limits.depth,
        message: `The repository nests folders deeper than the ${limits.depth} levels this service accepts.`
      })
    const entries = yield* readEntries(source, tree)
    seen += entries.length
    if (seen > limits.files)
      return yield* new GitLimitExceeded({
        limit: "files",
        maximum: limits.files,
        message: `The repository holds more than the ${limits.files} entries this service accepts. Sync a folder of it instead.`
      })
    for (const { name } of entries) {
      const reason = hostileName(name)
      if (reason !== undefined)
        return yield* new SnapshotPathRefused({
          message: `${describeRefusedName(name, reason)} It is an entry of the tree ${tree}.`
        })
    }
    for (const entry of storable(entries, prefix)) {
      const path = `${prefix}${entry.name}`
      if (entry.kind === "tree") {
        yield* visit(entry.oid, `${path}/`, depth + 1)
        continue
      }
      const added = paths.add(path)
      if (Result.isFailure(added)) return yield* new SnapshotPathRefused({ message: added.failure })
      if (entry.kind === "file" || entry.kind === "executable")
        files.push({ path, oid: entry.oid, executable: entry.kind === "executable" })
      else omitted.push({ path, kind: entry.kind, mode: entry.mode, oid: entry.oid })
    }
  })

  yield* visit(request.tree, "", 1)
  if (files.length === 0)
    return yield* new SnapshotEmpty({
      path: request.path,
      message:
        request.path === "."
          ? "The commit contains no regular files."
          : `The folder ${request.path} of the commit contains no regular files.`
    })
  const byPath = (a: { readonly path: string }, b: { readonly path: string }) => comparePaths(a.path, b.path)
  return { files: files.sort(byPath), omitted: omitted.sort(byPath), unstorable }
})

const manifestPath = [".well-known", "svc.json"]
const lfsPointer = Buffer.from("version https://git-lfs.github.com/spec/v1\n")
const lfsPointerMaxBytes = 1024
const namedInWarning = 10

const readManifest = Effect.fnUntraced(function* (
  source: GitObjectSource,
  root: string
): Effect.fn.Return<FoundManifest, GitError> {
  const entry = yield* findEntry(source, root, manifestPath)
  if (entry === undefined) return { status: "absent" }
  const inPlace = entry.name === manifestPath.at(-1)
  if (!inPlace && entry.kind !== "symlink" && entry.kind !== "submodule") return { status: "absent" }
  if (!inPlace || (entry.kind !== "file" && entry.kind !== "executable"))
    return { status: "refused", reason: ".well-known/svc.json is not a regular file." }
  const bytes = yield* readVerified(source, entry.oid, "blob")
  if (bytes.length > manifestMaxBytes)
    return { status: "refused", reason: `.well-known/svc.json is larger than ${manifestMaxBytes} bytes.` }
  return { status: "present", bytes }
})

const isLfsPointer = (bytes: Uint8Array) =>
  bytes.length <= lfsPointerMaxBytes && lfsPointer.equals(bytes.subarray(0, lfsPointer.length))

const lfsWarnings = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (paths.length === 0) return []
  const more = paths.length > namedInWarning ? ` and ${paths.length - namedInWarning} more` : ""
  return [
    `Git LFS is not supported: these files hold only a pointer: ${paths.slice(0, namedInWarning).join(", ")}${more}.`
  ]
}

const nameWarnings = (reasons: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (reasons.length === 0) return []
  const more = reasons.length > namedInWarning ? `, and ${reasons.length - namedInWarning} more` : ""
  return [
    `These entries of the repository are left out of the snapshot, since not every file system can hold them: ${reasons.slice(0, namedInWarning).join("; ")}${more}. A module that needs one of them cannot be installed until it is renamed.`
  ]
}

const fileTooLarge = (path: string, maximum: number) =>
  new GitLimitExceeded({
    limit: "fileBytes",
    maximum,
    message: `The file ${JSON.stringify(path)} of the commit is larger than the ${maximum} bytes this service accepts.`
  })

/** Creates the archive of a fetched commit. Verifies every object against its id. */
const buildSnapshot = Effect.fn("buildSnapshot")(function* (
  source: GitObjectSource,
  job: SyncJob,
  archivePath: string
): Effect.fn.Return<SyncedSnapshot, GitError | SnapshotError, FileSystem.FileSystem> {
  const { authors, commit, description, tree: root } = yield* peelToCommit(source, job.oid)
  // Also accept the tag's id, because a server that does not peel tags lists that id as the commit.
  if (commit !== job.commit && job.commit !== job.oid)
    return yield* new GitRefMoved({
      ref: job.ref,
      expectedCommit: job.commit,
      message: `${job.ref} no longer points to the commit ${job.commit}. Sync again.`
    })
  const repositoryManifest = yield* readManifest(source, root)
  const tree = yield* findFolder(source, root, job.path)
  const walked = yield* walkTree(source, { tree, path: job.path, limits: job.limits })
  const lfs: Array<string> = []
  let total = 0
  const written = yield* Effect.gen(function* () {
    const writer = yield* makeArchiveWriter(archivePath, walked.omitted)
    for (const file of walked.files) {
      const bytes = yield* readVerified(source, file.oid, "blob")
      if (bytes.length > job.limits.fileBytes) return yield* fileTooLarge(file.path, job.limits.fileBytes)
      total += bytes.length
      if (total > job.limits.totalBytes)
        return yield* new GitLimitExceeded({
          limit: "totalBytes",
          maximum: job.limits.totalBytes,
          message: `The files of the commit are larger than the ${job.limits.totalBytes} bytes this service accepts. Sync a folder of it instead.`
        })
      if (isLfsPointer(bytes)) lfs.push(file.path)
      yield* writer.add(file, bytes)
    }
    return yield* writer.finish
  }).pipe(Effect.scoped)
  return {
    ...written,
    resolvedCommit: commit,
    authors,
    commitDescription: description,
    ...(job.fullRef === undefined ? {} : { fullRef: job.fullRef }),
    fileCount: walked.files.length,
    omitted: walked.omitted.map(({ path, kind }) => ({ path, kind })),
    warnings: [...lfsWarnings(lfs), ...nameWarnings(walked.unstorable)],
    repositoryManifest
  }
})

const progressStep = 10

/** Limits progress reports: emits a line only when the phase changes or the transfer has advanced noticeably. */
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

/**
 * Executes one job: fetches the commit, and writes its archive to the job's folder. Passes human-readable progress lines to
 * `emit`.
 */
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
