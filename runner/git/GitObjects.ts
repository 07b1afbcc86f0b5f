import { Effect, Result } from "effect"
import { createHash } from "node:crypto"
import type { CommitDescription } from "../../schema/records/Commit.ts"
import { commitAuthors } from "./CommitAuthors.ts"
import { describeCommit } from "./CommitMessage.ts"
import { type GitError, GitProtocolBroken } from "./GitError.ts"

export type GitObjectType = "commit" | "tree" | "blob" | "tag"

export interface GitObject {
  readonly type: GitObjectType
  readonly bytes: Uint8Array
}

/** The objects of one fetch. `read` fails for objects that the server did not send. */
export interface GitObjectSource {
  readonly read: (oid: string) => Effect.Effect<GitObject, GitError>
}

export type TreeEntryKind = "tree" | "file" | "executable" | "symlink" | "submodule" | "special"

export interface TreeEntry {
  readonly name: string
  readonly kind: TreeEntryKind
  readonly mode: string
  readonly oid: string
}

const oidBytes = 20
const kinds: ReadonlyMap<string, TreeEntryKind> = new Map([
  ["40000", "tree"],
  ["040000", "tree"],
  ["100644", "file"],
  ["100664", "file"],
  ["100755", "executable"],
  ["120000", "symlink"],
  ["160000", "submodule"]
])

export const missingObject = (oid: string) =>
  new GitProtocolBroken({
    message: `The Git server did not send the object ${oid}, which the commit needs, or the object is damaged. Check the repository with git fsck.`
  })

const damaged = (oid: string, what: string) =>
  new GitProtocolBroken({ message: `The object ${oid} of the repository ${what}. Check the repository with git fsck.` })

/**
 * Reads and verifies an object: the object must have the expected type, and its bytes must hash to its id. A snapshot is
 * therefore exactly the resolved commit, regardless of how it was fetched.
 */
export const readVerified = Effect.fnUntraced(function* (
  source: GitObjectSource,
  oid: string,
  type: GitObjectType
): Effect.fn.Return<Uint8Array, GitError> {
  const found = yield* source.read(oid)
  if (hashObject(found) !== oid) return yield* missingObject(oid)
  if (found.type !== type) return yield* damaged(oid, `is a ${found.type} where a ${type} is expected`)
  return found.bytes
})

const hashObject = (object: GitObject): string =>
  createHash("sha1").update(`${object.type} ${object.bytes.length}\0`).update(object.bytes).digest("hex")

const header = (bytes: Uint8Array, key: string): string | undefined =>
  Buffer.from(bytes)
    .toString("latin1")
    .split("\n\n", 1)[0]
    ?.split("\n")
    .find((line) => line.startsWith(`${key} `))
    ?.slice(key.length + 1)

export interface PeeledCommit {
  readonly commit: string
  readonly tree: string
  /** Email addresses of the commit's author, committer and co-authors. */
  readonly authors: ReadonlyArray<string>
  readonly description: CommitDescription
}

/** Resolves an object id to a commit, through annotated tags, and returns the commit with its root tree. */
export const peelToCommit = Effect.fnUntraced(function* (
  source: GitObjectSource,
  oid: string
): Effect.fn.Return<PeeledCommit, GitError> {
  const maxTags = 10
  let current = oid
  for (let depth = 0; depth <= maxTags; depth++) {
    const { type } = yield* source.read(current)
    const bytes = yield* readVerified(source, current, type)
    const next = header(bytes, type === "commit" ? "tree" : "object")
    if (type !== "commit" && type !== "tag")
      return yield* new GitProtocolBroken({ message: `The ref points to a ${type}, not to a commit (${current}).` })
    if (next === undefined || !/^[0-9a-f]{40}$/.test(next))
      return yield* damaged(current, `is a ${type} without a valid ${type === "commit" ? "tree" : "object"} line`)
    if (type === "commit")
      return { commit: current, tree: next, authors: commitAuthors(bytes), description: describeCommit(bytes) }
    current = next
  }
  return yield* new GitProtocolBroken({ message: "The ref points to a tag of a tag of a tag, without end." })
})

/**
 * Returns the entries of a tree object in their original order. Replaces invalid UTF-8 bytes in names with U+FFFD.
 */
export const parseTree = (
  tree: string,
  bytes: Uint8Array
): Result.Result<ReadonlyArray<TreeEntry>, GitProtocolBroken> => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: Array<TreeEntry> = []
  let at = 0
  while (at < buffer.length) {
    const space = buffer.indexOf(0x20, at)
    const end = space === -1 ? -1 : buffer.indexOf(0, space)
    if (end === -1 || end + 1 + oidBytes > buffer.length)
      return Result.fail(damaged(tree, "is a tree with an entry that is cut off"))
    const mode = buffer.toString("latin1", at, space)
    const name = buffer.toString("utf8", space + 1, end)
    const oid = buffer.toString("hex", end + 1, end + 1 + oidBytes)
    entries.push({ name, kind: kinds.get(mode) ?? "special", mode: mode.padStart(6, "0"), oid })
    at = end + 1 + oidBytes
  }
  return Result.succeed(entries)
}
