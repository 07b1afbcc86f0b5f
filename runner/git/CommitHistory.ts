import { Effect, type Scope } from "effect"
import * as nodeFs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { CommitDescription } from "../../schema/records/Commit.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"
import { commitAuthors } from "./CommitAuthors.ts"
import { describeCommit } from "./CommitMessage.ts"
import { broken, gitCommand, offered, readAdvertised } from "./GitExchange.ts"
import { type GitError, isGitError } from "./GitError.ts"
import type { GitTransport } from "./GitTransport.ts"
import { refusedPack } from "./PackBounds.ts"
import { delimPacket, encodePacket, flushPacket, type Packet, packetText } from "./PktLine.ts"

export interface HistoryCommit {
  readonly commit: string
  readonly parents: ReadonlyArray<string>
  readonly description: CommitDescription
  /** The addresses of the commit's author, committer and co-authors (`commitAuthors`). */
  readonly authors: ReadonlyArray<string>
}

/** Commits by id. If a commit's parents are missing, the server truncated the history there. */
export type CommitHistory = ReadonlyMap<string, HistoryCommit>

/** Number of generations to read. */
export const historyDepth = 50

const mebibyte = 1024 * 1024
/** Limits for the pack of a history. A history that contains merges has more commits than generations. */
const bounds = { objects: 5000, objectBytes: mebibyte, unpackedBytes: 8 * mebibyte, deltaDepth: 50 }

const fetchCommits = (commit: string) =>
  Buffer.concat([
    encodePacket("command=fetch\n"),
    encodePacket("agent=git/svc\n"),
    delimPacket,
    encodePacket("no-progress\n"),
    encodePacket(`want ${commit}\n`),
    encodePacket(`deepen ${historyDepth}\n`),
    encodePacket("filter tree:0\n"),
    encodePacket("done\n"),
    flushPacket
  ])

const packChannel = 1

const packOf = (packets: ReadonlyArray<Packet>): Buffer => {
  const start = packets.findIndex((packet) => packetText(packet) === "packfile")
  if (start === -1) return Buffer.alloc(0)
  return Buffer.concat(
    packets
      .slice(start + 1)
      .flatMap((packet) =>
        packet._tag === "line" && packet.bytes[0] === packChannel ? [packet.bytes.subarray(1)] : []
      )
  )
}

const temporaryGitdir: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => nodeFs.promises.mkdtemp(join(tmpdir(), "svc-history-"))),
  (folder) => Effect.promise(() => nodeFs.promises.rm(folder, { recursive: true, force: true }))
)

const isogit = Effect.promise(() => import("isomorphic-git"))

const parentsOf = (bytes: Uint8Array): ReadonlyArray<string> => {
  const text = Buffer.from(bytes).toString("latin1")
  const end = text.indexOf("\n\n")
  return [...text.slice(0, end === -1 ? text.length : end).matchAll(/^parent ([0-9a-f]{40})$/gm)].flatMap(
    ([, parent]) => parent ?? []
  )
}

/** Returns the commits in a pack. Their ids are computed from their bytes, never taken from the server. */
const readPack = Effect.fnUntraced(function* (pack: Buffer) {
  const refused = yield* Effect.promise(() => refusedPack(pack, bounds))
  if (refused !== undefined) return yield* refused
  const git = yield* isogit
  const gitdir = yield* temporaryGitdir
  const filepath = "objects/pack/history.pack"
  const at = { fs: nodeFs, gitdir }
  return yield* Effect.tryPromise({
    try: async () => {
      await nodeFs.promises.mkdir(join(gitdir, "objects/pack"), { recursive: true })
      await nodeFs.promises.writeFile(join(gitdir, filepath), pack)
      const { oids } = await git.indexPack({ ...at, dir: gitdir, filepath })
      const cache = {}
      const commits = new Map<string, HistoryCommit>()
      for (const oid of oids) {
        const { format, object, type } = await git.readObject({ ...at, oid, format: "content", cache })
        if (type !== "commit" || format !== "content") continue
        commits.set(oid, {
          commit: oid,
          parents: parentsOf(object),
          description: describeCommit(object),
          authors: commitAuthors(object)
        })
      }
      return commits
    },
    catch: (error) => (isGitError(error) ? error : broken("the commits cannot be read"))
  })
}, Effect.scoped)

/** Reads the newest commits without their files. Returns `undefined` if the server cannot omit the files. */
export const fetchHistory = Effect.fn("fetchHistory")(function* (
  transport: GitTransport,
  url: GitAddress,
  commit: string
): Effect.fn.Return<CommitHistory | undefined, GitError> {
  const features = offered(yield* readAdvertised(transport, url), "fetch")?.split(" ") ?? []
  if (!features.includes("shallow") || !features.includes("filter")) return undefined
  return yield* readPack(packOf(yield* gitCommand(transport, url, fetchCommits(commit))))
})

/** Lists the commit and its ancestors, nearest first. */
export const ancestry = (history: CommitHistory, commit: string): ReadonlyArray<HistoryCommit> => {
  const found = new Map<string, HistoryCommit>()
  let level = [commit]
  while (level.length > 0) {
    const next: Array<string> = []
    for (const id of level) {
      const known = history.get(id)
      if (known === undefined || found.has(id)) continue
      found.set(id, known)
      next.push(...known.parents)
    }
    level = next
  }
  return [...found.values()]
}

/**
 * Lists the commits in `commit` but not in `base`. Returns `undefined` if the fetched history is too short for a complete list.
 */
export const commitsBetween = (
  history: CommitHistory,
  commit: string,
  base: string
): ReadonlyArray<HistoryCommit> | undefined => {
  if (!history.has(base)) return undefined
  const behind = new Set(ancestry(history, base).map((each) => each.commit))
  const ahead = ancestry(history, commit).filter((each) => !behind.has(each.commit))
  return ahead.every(({ parents }) => parents.every((parent) => history.has(parent))) ? ahead : undefined
}

/**
 * Counts the commits in `commit` but not in `base`, like `git rev-list --count base..commit`. Returns `undefined` if the
 * history is too short to count them.
 */
export const commitsAhead = (history: CommitHistory, commit: string, base: string): number | undefined =>
  commitsBetween(history, commit, base)?.length

/**
 * Returns the commit at which two branches diverged, like `git merge-base`. Returns `undefined` if the history is too short to
 * contain it, or if there are several best common ancestors.
 */
export const mergeBase = (history: CommitHistory, one: string, other: string): string | undefined => {
  const others = new Set(ancestry(history, other).map(({ commit }) => commit))
  const common = ancestry(history, one).filter(({ commit }) => others.has(commit))
  const older = new Set<string>()
  for (const { commit, parents } of common) {
    if (older.has(commit)) continue
    for (const parent of parents) for (const ancestor of ancestry(history, parent)) older.add(ancestor.commit)
  }
  const best = common.filter(({ commit }) => !older.has(commit))
  return best.length === 1 ? best[0]?.commit : undefined
}
