import { Effect } from "effect"
import * as git from "isomorphic-git"
import type { FsClient } from "isomorphic-git"
import * as nodeFs from "node:fs"

/** A bare repository. `fs` defaults to the disk. */
export interface RepositoryLocation {
  readonly gitdir: string
  readonly fs?: FsClient
}

export type CommitEntry =
  | string
  | Uint8Array
  | { readonly kind: "executable"; readonly content: string | Uint8Array }
  | { readonly kind: "symlink"; readonly target: string }
  | { readonly kind: "submodule"; readonly commit: string }

/** All files in a commit, keyed by path from the root, with `/` between segments. */
export type CommitFiles = Readonly<Record<string, CommitEntry>>

export interface CommitRequest extends RepositoryLocation {
  readonly files: CommitFiles
  /** Branch to move to the new commit. Defaults to `main`. */
  readonly branch?: string
  readonly message?: string
  /** Seconds since the Unix epoch. The same request always creates the same commit. */
  readonly timestamp?: number
}

const author = { name: "svc", email: "svc@localhost", timezoneOffset: 0 }
const firstCommitAt = 1_735_689_600

const signature = (timestamp = firstCommitAt) => ({ ...author, timestamp })
const fsOf = (location: RepositoryLocation): FsClient => location.fs ?? nodeFs
const bytesOf = (content: string | Uint8Array) => (typeof content === "string" ? Buffer.from(content) : content)

interface TreeNode {
  readonly entries: Map<
    string,
    { readonly mode: string; readonly oid: string; readonly type: "blob" | "commit" } | TreeNode
  >
}

const isNode = (value: unknown): value is TreeNode => typeof value === "object" && value !== null && "entries" in value

const writeEntry = async (location: RepositoryLocation, entry: CommitEntry) => {
  const blob = (content: string | Uint8Array) =>
    git.writeBlob({ fs: fsOf(location), gitdir: location.gitdir, blob: bytesOf(content) })
  if (typeof entry === "string" || entry instanceof Uint8Array)
    return { mode: "100644", oid: await blob(entry), type: "blob" } as const
  if (entry.kind === "executable") return { mode: "100755", oid: await blob(entry.content), type: "blob" } as const
  if (entry.kind === "symlink") return { mode: "120000", oid: await blob(entry.target), type: "blob" } as const
  return { mode: "160000", oid: entry.commit, type: "commit" } as const
}

const writeTree = async (location: RepositoryLocation, node: TreeNode): Promise<string> => {
  const tree = []
  for (const [path, entry] of node.entries) {
    const written = isNode(entry)
      ? { path, mode: "040000", oid: await writeTree(location, entry), type: "tree" as const }
      : { path, ...entry }
    tree.push(written)
  }
  return git.writeTree({ fs: fsOf(location), gitdir: location.gitdir, tree })
}

const buildTree = async (location: RepositoryLocation, files: CommitFiles) => {
  const root: TreeNode = { entries: new Map() }
  for (const [path, entry] of Object.entries(files)) {
    const segments = path.split("/")
    const name = segments.pop() ?? ""
    let folder = root
    for (const segment of segments) {
      const existing = folder.entries.get(segment)
      const next: TreeNode = isNode(existing) ? existing : { entries: new Map() }
      folder.entries.set(segment, next)
      folder = next
    }
    const written = await writeEntry(location, entry)
    folder.entries.set(name, written)
  }
  return writeTree(location, root)
}

/** Creates an empty bare repository whose HEAD points to `main`. */
export const createRepository = Effect.fn("createRepository")((location: RepositoryLocation) =>
  Effect.promise(() => git.init({ fs: fsOf(location), gitdir: location.gitdir, bare: true, defaultBranch: "main" }))
)

/** Creates a commit with exactly `files` on top of a branch, and returns the commit id. */
export const commitFiles = Effect.fn("commitFiles")((request: CommitRequest) =>
  Effect.promise(async () => {
    const at = { fs: fsOf(request), gitdir: request.gitdir }
    const branch = `refs/heads/${request.branch ?? "main"}`
    const parent = await git.resolveRef({ ...at, ref: branch }).catch(() => undefined)
    const tree = await buildTree(request, request.files)
    const commit = await git.writeCommit({
      ...at,
      commit: {
        tree,
        parent: parent === undefined ? [] : [parent],
        author: signature(request.timestamp),
        committer: signature(request.timestamp),
        message: `${request.message ?? "Commit"}\n`
      }
    })
    await git.writeRef({ ...at, ref: branch, value: commit, force: true })
    return commit
  })
)

export interface TagRequest extends RepositoryLocation {
  readonly name: string
  readonly target: string
  /** If set, creates a tag object with this message instead of a lightweight tag. */
  readonly message?: string
  /** Type of the tag object's target. Defaults to `commit`. */
  readonly targetType?: "commit" | "tree" | "blob" | "tag"
}

/** Creates or moves a tag, and returns the id of the object to which `refs/tags/<name>` now points. */
export const tagCommit = Effect.fn("tagCommit")((request: TagRequest) =>
  Effect.promise(async () => {
    const at = { fs: fsOf(request), gitdir: request.gitdir }
    const oid =
      request.message === undefined
        ? request.target
        : await git.writeTag({
            ...at,
            tag: {
              object: request.target,
              type: request.targetType ?? "commit",
              tag: request.name,
              tagger: signature(),
              message: `${request.message}\n`
            }
          })
    await git.writeRef({ ...at, ref: `refs/tags/${request.name}`, value: oid, force: true })
    return oid
  })
)
