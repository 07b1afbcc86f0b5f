import { Effect, type FileSystem } from "effect"
import { type GitError, GitLimitExceeded } from "../git/GitError.ts"
import { type GitObjectSource, peelToCommit, readVerified } from "../git/GitObjects.ts"
import { GitRefMoved } from "../git/GitError.ts"
import { makeArchiveWriter } from "./ArchiveWriter.ts"
import type { SnapshotError } from "./SnapshotError.ts"
import { type FoundManifest, manifestMaxBytes, type SyncedSnapshot } from "./SyncedSnapshot.ts"
import type { SyncJob } from "./SyncProtocol.ts"
import { findEntry, findFolder, walkTree } from "./TreeWalk.ts"

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

/** Creates the archive of a fetched commit. Every object is verified against its id. */
export const buildSnapshot = Effect.fn("buildSnapshot")(function* (
  source: GitObjectSource,
  job: SyncJob,
  archivePath: string
): Effect.fn.Return<SyncedSnapshot, GitError | SnapshotError, FileSystem.FileSystem> {
  const { authors, commit, description, tree: root } = yield* peelToCommit(source, job.oid)
  // If a server does not peel its tags, `commit` remains the tag's own id.
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
