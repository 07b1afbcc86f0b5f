import { Context, Effect, Layer, Result, Struct } from "effect"
import type { GitCredentials } from "./GitCredentials.ts"
import { type GitEndpoint, pinEndpoint } from "./GitEndpoint.ts"
import {
  type GitError,
  GitLimitExceeded,
  type GitProtocolBroken,
  GitRefAmbiguous,
  GitRefNotFound,
  GitRepositoryEmpty,
  GitTimedOut
} from "./GitError.ts"
import { type GitLimits, GitPolicy } from "./GitPolicy.ts"
import type { GitRef } from "../../schema/git/GitRef.ts"
import { type GitTransport, makeGitTransport } from "./GitTransport.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"
import { type ListedRef, newestStableVersion, type StableVersion } from "./StableVersion.ts"
import { refTarget } from "./RefTarget.ts"
import { normaliseRef } from "../../schema/git/RefName.ts"
import { delimPacket, encodePacket, flushPacket, type Packet, packetText } from "./PktLine.ts"
import { broken, gitCommand, offered, readAdvertised } from "./GitExchange.ts"
import { type CommitHistory, fetchHistory } from "./CommitHistory.ts"
import { headPrefixes, type RepositoryHeads, repositoryHeads } from "./PullRequestRefs.ts"

/** A ref on the server. `target` is the branch to which HEAD points, if the server reports it. */
interface RemoteRef extends ListedRef {
  readonly target: string | undefined
}

/** A branch or tag of a repository. */
export interface NamedRef {
  readonly kind: "branch" | "tag"
  readonly name: string
  readonly commit: string
}

/** Split at ASCII spaces only, because a ref may contain any other whitespace. */
const refLine = /^([0-9a-f]{40}(?:[0-9a-f]{24})?) (.*)$/s
const sha1 = /^[0-9a-f]{40}$/
const firstLine = /^([^\0]*)\0(.*)$/s

const otherObjectFormat = () =>
  broken("the repository uses another object format than SHA-1 (it is a SHA-256 repository), which is not supported")

/** The refs in a server's listing. `skipped` contains the refs that cannot be used. */
interface RefListing {
  readonly refs: ReadonlyArray<RemoteRef>
  readonly skipped: ReadonlyArray<string>
}

interface ReadRef {
  readonly oid: string
  readonly name: string
  readonly attributes: ReadonlyArray<string>
}

/** Parses `<oid> <name>`. In protocol v2, attributes follow the name after spaces. */
const readRef = (text: string, hasAttributes: boolean): Result.Result<ReadRef, GitProtocolBroken> => {
  const [, oid, rest] = refLine.exec(text) ?? []
  if (oid === undefined || rest === undefined) return Result.fail(broken("a line is not a ref"))
  if (!sha1.test(oid)) return Result.fail(otherObjectFormat())
  const [name = "", ...attributes] = hasAttributes ? rest.split(" ") : [rest]
  return Result.succeed({ oid, name, attributes })
}

const pseudoRef = "capabilities^{}"

/** Returns true for names that Git allows and svc can use: `HEAD`, and UTF-8 names below `refs/`. */
const isUsable = (name: string) => name === "HEAD" || (name.startsWith("refs/") && normaliseRef(name) !== undefined)

/**
 * Merges each line `<oid> <ref>` of an annotated tag with the line `<oid> <ref>^{}` that follows it. The listing of a
 * repository without commits may be empty.
 */
const parseV1 = Effect.fnUntraced(function* (
  packets: ReadonlyArray<Packet>
): Effect.fn.Return<RefListing, GitProtocolBroken> {
  const texts = packets.flatMap((packet) => packetText(packet) ?? [])
  const [first, ...rest] = texts
  if (first === undefined) return { refs: [], skipped: [] }
  const [, line, capabilities] = firstLine.exec(first) ?? []
  if (line === undefined || capabilities === undefined) return yield* broken("capabilities are missing")
  const format = /(?:^| )object-format=(\S+)/.exec(capabilities)?.[1] ?? "sha1"
  if (format !== "sha1") return yield* otherObjectFormat()
  const head = /(?:^| )symref=HEAD:([^ ]+)/.exec(capabilities)?.[1]
  const found = new Map<string, RemoteRef>()
  const skipped: Array<string> = []
  for (const text of [line, ...rest]) {
    const { name, oid } = yield* Effect.fromResult(readRef(text, false))
    if (name === pseudoRef) continue
    const tag = name.endsWith("^{}") ? found.get(name.slice(0, -3)) : undefined
    if (tag !== undefined) found.set(tag.name, { ...tag, commit: oid })
    else if (isUsable(name)) found.set(name, { name, oid, commit: oid, target: name === "HEAD" ? head : undefined })
    else if (!name.endsWith("^{}")) skipped.push(name)
  }
  return { refs: [...found.values()], skipped }
})

const parseV2 = Effect.fnUntraced(function* (
  packets: ReadonlyArray<Packet>
): Effect.fn.Return<RefListing, GitProtocolBroken> {
  const refs: Array<RemoteRef> = []
  const skipped: Array<string> = []
  for (const text of packets.flatMap((packet) => packetText(packet) ?? [])) {
    // Ignore a HEAD that has no commit. Servers send such a HEAD only on request, and it is harmless.
    if (text.startsWith("unborn ")) continue
    const { attributes, name, oid } = yield* Effect.fromResult(readRef(text, true))
    const valueOf = (key: string) => attributes.find((text) => text.startsWith(`${key}:`))?.slice(key.length + 1)
    const peeled = valueOf("peeled")
    if (!isUsable(name)) skipped.push(name)
    else if (peeled !== undefined && !sha1.test(peeled)) return yield* broken("a tag points to something unreadable")
    else refs.push({ name, oid, commit: peeled ?? oid, target: valueOf("symref-target") })
  }
  return { refs, skipped }
})

/**
 * Lists the refs that start with one of the prefixes, with annotated tags peeled, in protocol v2 or the format of older servers.
 * Replaces isomorphic-git's `listServerRefs`, which requests only one prefix, and treats a broken connection as the end of
 * the list, which could make an old tag appear to be the newest.
 */
const listRemoteRefs = Effect.fn("listRemoteRefs")(function* (
  transport: GitTransport,
  url: GitAddress,
  prefixes: ReadonlyArray<string>,
  limits: GitLimits
): Effect.fn.Return<RefListing, GitError> {
  const advertised = yield* readAdvertised(transport, url)
  const { body, isV2 } = advertised
  if (isV2 && offered(advertised, "ls-refs") === undefined) return yield* broken("refs cannot be listed")
  const format = body.map(packetText).find((text) => text?.startsWith("object-format=") === true) ?? ""
  if (isV2 && format !== "" && format !== "object-format=sha1") return yield* otherObjectFormat()
  const listed = isV2
    ? yield* gitCommand(transport, url, lsRefs(prefixes)).pipe(Effect.flatMap(parseV2))
    : yield* parseV1(body)
  if (listed.refs.length + listed.skipped.length > limits.refs)
    return yield* new GitLimitExceeded({
      limit: "refs",
      maximum: limits.refs,
      message: `The repository has more than the ${limits.refs} refs this service accepts.`
    })
  const isWanted = (name: string) => prefixes.some((prefix) => name.startsWith(prefix))
  return { refs: listed.refs.filter(({ name }) => isWanted(name)), skipped: listed.skipped.filter(isWanted) }
})

const lsRefs = (prefixes: ReadonlyArray<string>) =>
  Buffer.concat([
    encodePacket("command=ls-refs\n"),
    encodePacket("agent=git/svc\n"),
    delimPacket,
    encodePacket("peel\n"),
    encodePacket("symrefs\n"),
    ...prefixes.map((prefix) => encodePacket(`ref-prefix ${prefix}\n`)),
    flushPacket
  ])

/**
 * `oid` is the object that the server lists. It differs from `commit` for an annotated tag. `fullRef` is absent for a commit id.
 */
interface ResolvedRef {
  readonly fullRef?: string
  readonly commit: string
  readonly oid: string
}

/** Returns the prefixes to request from a server for a ref. */
const refPrefixes = (ref: GitRef): ReadonlyArray<string> => {
  const target = refTarget(ref)
  switch (target._tag) {
    case "head":
    case "commit":
      return ["HEAD"]
    case "full":
      return [target.name]
    case "short":
      return target.candidates
  }
}

const found = (remote: RemoteRef): ResolvedRef => ({
  fullRef: remote.name === "HEAD" ? (remote.target ?? "HEAD") : remote.name,
  commit: remote.commit,
  oid: remote.oid
})

/** Picks exactly one ref from a listing that was requested with `refPrefixes`. Fails if a branch and a tag both match. */
const resolveRef = (
  ref: GitRef,
  listed: ReadonlyArray<RemoteRef>
): Result.Result<ResolvedRef, GitRefNotFound | GitRefAmbiguous | GitRepositoryEmpty> => {
  const target = refTarget(ref)
  if (target._tag === "commit") return Result.succeed({ commit: target.commit, oid: target.commit })
  const names = refPrefixes(ref)
  const matches = listed.filter((remote) => names.includes(remote.name))
  const [match, ...others] = matches
  if (match === undefined) {
    if (target._tag === "head")
      return Result.fail(
        new GitRepositoryEmpty({
          message: "The repository has no commits, or its default branch does not exist. Push one, or name a ref."
        })
      )
    return Result.fail(new GitRefNotFound({ ref, message: `The repository has no branch, tag or ref named ${ref}.` }))
  }
  if (others.length > 0) {
    const candidates = matches.map((remote) => remote.name).sort()
    return Result.fail(
      new GitRefAmbiguous({
        ref,
        candidates,
        message: `${ref} is the name of more than one ref. Write the one you mean: ${candidates.join(" or ")}.`
      })
    )
  }
  return Result.succeed(found(match))
}

export interface RemoteRequest {
  readonly url: GitAddress
  readonly credentials?: GitCredentials | undefined
}

/** A resolved ref, and the address of the server that responded, so that a fetch can use the same server. */
export interface LocatedRef extends ResolvedRef {
  readonly endpoint: GitEndpoint
  /** Refs with a similar name that cannot be used. */
  readonly skipped: ReadonlyArray<string>
}

/**
 * Queries a remote repository. Every method checks the addresses of the host once, uses only those addresses, follows no
 * redirect, and ends within the policy's deadline.
 */
export class GitRemote extends Context.Service<
  GitRemote,
  {
    /** Resolves a ref to a commit. Returns a commit id unchanged, after checking that the server is a Git server. */
    readonly resolve: (request: RemoteRequest & { readonly ref: GitRef }) => Effect.Effect<ResolvedRef, GitError>
    /** Like `resolve`, but also returns the checked address for a later fetch. */
    readonly locate: (request: RemoteRequest & { readonly ref: GitRef }) => Effect.Effect<LocatedRef, GitError>
    /** Returns the newest `vX.Y.Z` or `X.Y.Z` tag. */
    readonly newestStableTag: (request: RemoteRequest) => Effect.Effect<StableVersion, GitError>
    /** Lists every branch and tag, sorted by name. */
    readonly namedRefs: (request: RemoteRequest) => Effect.Effect<ReadonlyArray<NamedRef>, GitError>
    /** Lists the branches and the heads of pull requests, including closed pull requests. */
    readonly heads: (request: RemoteRequest) => Effect.Effect<RepositoryHeads, GitError>
    /** Reads the newest ancestors of a commit without their files. Returns `undefined` if the server does not support that. */
    readonly history: (
      request: RemoteRequest & { readonly commit: string }
    ) => Effect.Effect<CommitHistory | undefined, GitError>
  }
>()("svc/runner/git/GitRemote") {
  static readonly layer = Layer.effect(
    GitRemote,
    Effect.gen(function* () {
      const policy = yield* GitPolicy

      /** Runs one query over a separate connection that is pinned to the checked addresses of the host. */
      const query = <A>(
        request: RemoteRequest,
        responseBytes: number,
        ask: (transport: GitTransport) => Effect.Effect<A, GitError>
      ) =>
        Effect.gen(function* () {
          const endpoint = yield* pinEndpoint(request.url).pipe(Effect.provideService(GitPolicy, policy))
          const signal = yield* interruption
          const transport = makeGitTransport(endpoint, {
            credentials: request.credentials,
            maximum: { limit: "responseBytes", bytes: responseBytes },
            idle: policy.limits.idle,
            signal
          })
          const answer = yield* ask(transport)
          const address = transport.connectedAddress()
          const connected: GitEndpoint = address === undefined ? endpoint : { url: request.url, addresses: [address] }
          return { answer, endpoint: connected }
        }).pipe(
          Effect.scoped,
          Effect.timeoutOrElse({
            duration: policy.limits.deadline,
            orElse: () => Effect.fail(new GitTimedOut({ message: "The Git server took too long to list its refs." }))
          })
        )

      const list = (request: RemoteRequest, prefixes: ReadonlyArray<string>) =>
        query(request, policy.limits.responseBytes, (transport) =>
          listRemoteRefs(transport, request.url, prefixes, policy.limits)
        ).pipe(Effect.map(({ answer, endpoint }) => ({ ...answer, endpoint })))

      const locate = Effect.fn("GitRemote.locate")(function* (
        request: RemoteRequest & { readonly ref: GitRef }
      ): Effect.fn.Return<LocatedRef, GitError> {
        const { endpoint, refs, skipped } = yield* list(request, refPrefixes(request.ref))
        const resolved = yield* Effect.fromResult(resolveRef(request.ref, refs))
        return { ...resolved, endpoint, skipped }
      })

      const resolve = Effect.fn("GitRemote.resolve")((request: RemoteRequest & { readonly ref: GitRef }) =>
        Effect.map(locate(request), (located): ResolvedRef => Struct.omit(located, ["endpoint", "skipped"]))
      )

      const newestStableTag = Effect.fn("GitRemote.newestStableTag")(function* (request: RemoteRequest) {
        const { refs } = yield* list(request, ["refs/tags/"])
        return yield* Effect.fromResult(newestStableVersion(refs))
      })

      const namedRefs = Effect.fn("GitRemote.namedRefs")(function* (request: RemoteRequest) {
        const { refs } = yield* list(request, namedFolders)
        return refs.flatMap(({ commit, name }): ReadonlyArray<NamedRef> => {
          const folder = namedFolders.find((one) => name.startsWith(one) && name.length > one.length)
          if (folder === undefined) return []
          return [{ kind: folder === branches ? "branch" : "tag", name: name.slice(folder.length), commit }]
        })
      })

      const heads = Effect.fn("GitRemote.heads")(function* (request: RemoteRequest) {
        const { refs } = yield* list(request, headPrefixes)
        return repositoryHeads(refs)
      })

      const history = Effect.fn("GitRemote.history")(function* (request: RemoteRequest & { readonly commit: string }) {
        const { answer } = yield* query(request, historyBytes, (transport) =>
          fetchHistory(transport, request.url, request.commit)
        )
        return answer
      })

      return GitRemote.of({ resolve, locate, newestStableTag, namedRefs, heads, history })
    })
  )
}

const branches = "refs/heads/"
const namedFolders = [branches, "refs/tags/"]

/**
 * Maximum size of a history: enough for fifty commits without files, or a few commits with the longest message that hosts accept.
 */
const historyBytes = 1024 * 1024

/** Creates a signal that is aborted when the scope closes, for APIs that only support signals. */
const interruption = Effect.acquireRelease(
  Effect.sync(() => new AbortController()),
  (controller) => Effect.sync(() => controller.abort())
).pipe(Effect.map((controller) => controller.signal))
