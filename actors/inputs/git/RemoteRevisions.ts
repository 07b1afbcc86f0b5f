import { Duration, Effect, Semaphore } from "effect"
import {
  ancestry,
  type CommitHistory,
  commitsAhead,
  commitsBetween,
  mergeBase
} from "../../../runner/git/CommitHistory.ts"
import { GitTimedOut } from "../../../runner/git/GitError.ts"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { GitRemote, type NamedRef } from "../../../runner/git/GitRemote.ts"
import { storedRef } from "../../../runner/git/RefTarget.ts"
import type { SourceRevisions } from "../../../schema/api/SourcesApi.ts"
import { isCommitRef } from "../../../schema/git/RefName.ts"
import type { SourceRow } from "../../ledger/source/SourceRow.ts"
import { type FetchedBy, makeFetchCredentials } from "./FetchCredentials.ts"

const mostNames = 200
const mostCommits = 30
/** Maximum number of cached histories. Plans of several Capsules for the same head need the same histories. */
const mostHistories = 64
/** Maximum time for a query. Kept short, because a person is waiting for the result. */
const patience = Duration.seconds(20)

/** A cached history, which is set once svc has read it. `lock` is held during the request. */
interface Remembered {
  readonly lock: Semaphore.Semaphore
  history?: CommitHistory
}

type ReadSource = Pick<SourceRow, "id" | "workspace_id" | "url" | "auth_connection_id">

/** Returns the short name, unless it could also mean another branch, tag or commit. */
const refOf = ({ kind, name }: NamedRef, all: ReadonlyArray<NamedRef>): string =>
  isCommitRef(name) || all.some((other) => other.kind !== kind && other.name === name)
    ? `refs/${kind === "branch" ? "heads" : "tags"}/${name}`
    : name

const byName = new Intl.Collator("en", { numeric: true })

/** Returns the first branches and tags of a listing, each with its unambiguous ref. */
export const namedRevisions = (all: ReadonlyArray<NamedRef>): Omit<SourceRevisions, "commits"> => {
  const branches = named("branch", all)
  const tags = named("tag", all)
  return {
    branches: branches.slice(0, mostNames),
    tags: tags.slice(0, mostNames),
    truncated: branches.length > mostNames || tags.length > mostNames
  }
}

const named = (kind: NamedRef["kind"], all: ReadonlyArray<NamedRef>) =>
  all
    .filter((ref) => ref.kind === kind)
    .map((ref) => ({ ref: refOf(ref, all), name: ref.name, commit: ref.commit }))
    .sort((a, b) => (kind === "tag" ? byName.compare(b.name, a.name) : byName.compare(a.name, b.name)))

/** Queries about a Source's repository that fetch no files. They use the network policy and the Git Connection of the Source. */
export const makeRemoteRevisions = Effect.gen(function* () {
  const remote = yield* GitRemote
  const policy = yield* GitPolicy
  const credentialsOf = yield* makeFetchCredentials

  const requestFor = Effect.fnUntraced(function* (source: ReadSource, by: FetchedBy, ref: string) {
    const url = yield* Effect.fromResult(fetchableAddress(source.url, policy))
    const authConnectionId = source.auth_connection_id ?? undefined
    const credentials = yield* credentialsOf(by, {
      url,
      ref,
      ...(authConnectionId === undefined ? {} : { authConnectionId })
    })
    return { url, credentials }
  })

  const histories = new Map<string, Remembered>()

  /** Reads the newest ancestors of a commit once. The caller has checked with `request` that the Connection may be used. */
  const historyOf = Effect.fnUntraced(function* (
    source: ReadSource,
    request: Effect.Success<ReturnType<typeof requestFor>>,
    commit: string
  ) {
    const key = `${source.id} ${commit}`
    if (!histories.has(key) && histories.size >= mostHistories) histories.clear()
    const entry: Remembered = histories.get(key) ?? { lock: Semaphore.makeUnsafe(1) }
    histories.set(key, entry)
    // Concurrent plans of a head wait for the first plan's request.
    return yield* Effect.gen(function* () {
      if (entry.history !== undefined) return entry.history
      const history = yield* remote.history({ ...request, commit })
      const kept = histories.get(key)
      if (kept !== undefined && history !== undefined) kept.history = history
      return history
    }).pipe(entry.lock.withPermit)
  })

  const requestOf = (source: ReadSource, subject: string | null, ref: string) =>
    requestFor(
      source,
      { workspace_id: source.workspace_id, source_id: source.id, created_by: subject, trigger_kind: "user" },
      ref
    )

  const list = Effect.fn("RemoteRevisions.list")(
    function* (source: ReadSource, subject: string | null, ref: string) {
      const request = yield* requestOf(source, subject, ref)
      const all = yield* remote.namedRefs(request)
      const { commit } = yield* remote.resolve({ ...request, ref: yield* Effect.fromResult(storedRef(ref)) })
      // Lists the names even if the newest commits cannot be read.
      const history = yield* remote.history({ ...request, commit }).pipe(Effect.orElseSucceed(() => undefined))
      const commits = history === undefined ? [] : ancestry(history, commit).slice(0, mostCommits)
      const revisions: SourceRevisions = {
        ...namedRevisions(all),
        commits: commits.map(({ commit: id, description }) => ({ commit: id, commitDescription: description }))
      }
      return revisions
    },
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(new GitTimedOut({ message: "The Git server took too long to list its revisions." }))
    })
  )

  /** Returns the number of commits since `base`, or `undefined` if it cannot be determined. */
  const ahead = Effect.fn("RemoteRevisions.ahead")(
    function* (
      source: ReadSource,
      subject: string | null,
      ref: string,
      { base, commit }: { readonly base: string; readonly commit: string }
    ) {
      if (base === commit) return 0
      const history = yield* remote.history({ ...(yield* requestOf(source, subject, ref)), commit })
      return history === undefined ? undefined : commitsAhead(history, commit, base)
    },
    Effect.timeoutOption(patience),
    Effect.map((found) => (found._tag === "Some" ? found.value : undefined)),
    Effect.orElseSucceed(() => undefined)
  )

  /**
   * Returns the commit at which `head` branched off from `base`, and the number of later commits in `base`. Returns `undefined`
   * if they cannot be determined.
   */
  const parting = Effect.fn("RemoteRevisions.parting")(
    function* (
      source: ReadSource,
      by: FetchedBy,
      ref: string,
      { base, head }: { readonly base: string; readonly head: string }
    ) {
      const request = yield* requestFor(source, by, ref)
      const ofHead = yield* historyOf(source, request, head)
      if (ofHead === undefined) return undefined
      if (ofHead.has(base)) return { mergeBase: base, behind: 0 }
      const ofBase = yield* historyOf(source, request, base)
      if (ofBase === undefined) return undefined
      const history = new Map([...ofBase, ...ofHead])
      const parted = mergeBase(history, head, base)
      if (parted === undefined) return undefined
      const behind = commitsAhead(history, base, parted)
      return { mergeBase: parted, ...(behind === undefined ? {} : { behind }) }
    },
    Effect.timeoutOption(patience),
    Effect.map((found) => (found._tag === "Some" ? found.value : undefined)),
    Effect.orElseSucceed(() => undefined)
  )

  /**
   * Returns the addresses of the authors of every commit in `commit` but not in `base`, or `undefined` if they cannot be
   * determined. The base may have new commits since the branch was created.
   */
  const authors = Effect.fn("RemoteRevisions.authors")(
    function* (
      source: ReadSource,
      by: FetchedBy,
      ref: string,
      { base, commit }: { readonly base: string; readonly commit: string }
    ) {
      const request = yield* requestFor(source, by, ref)
      const ofHead = yield* historyOf(source, request, commit)
      const ofBase = ofHead?.has(base) === true ? ofHead : yield* historyOf(source, request, base)
      if (ofHead === undefined || ofBase === undefined) return undefined
      const between = commitsBetween(new Map([...ofBase, ...ofHead]), commit, base)
      return between === undefined ? undefined : [...new Set(between.flatMap((each) => each.authors))]
    },
    Effect.timeoutOption(patience),
    Effect.map((found) => (found._tag === "Some" ? found.value : undefined)),
    Effect.orElseSucceed(() => undefined)
  )

  return { list, ahead, parting, authors }
})
