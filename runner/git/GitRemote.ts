import { Context, Effect, Layer, type Scope, Struct } from "effect"
import type { GitCredentials } from "./GitCredentials.ts"
import { type GitEndpoint, pinEndpoint } from "./GitEndpoint.ts"
import { type GitError, GitTimedOut } from "./GitError.ts"
import { GitPolicy } from "./GitPolicy.ts"
import type { GitRef } from "../../schema/git/GitRef.ts"
import { makeGitTransport } from "./GitTransport.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"
import { listRemoteRefs, type RefListing } from "./RefListing.ts"
import { refPrefixes, type ResolvedRef, resolveRef } from "./RefResolution.ts"
import { newestStableVersion, type StableVersion } from "./StableVersion.ts"

export interface RemoteRequest {
  readonly url: GitAddress
  readonly credentials?: GitCredentials | undefined
}

/** A resolved ref with the address that responded, so that a fetch can use the same server. */
export interface LocatedRef extends ResolvedRef {
  readonly endpoint: GitEndpoint
  /** Refs of similar names that cannot be used. */
  readonly skipped: ReadonlyArray<string>
}

/**
 * Queries to a remote repository. Every method checks the addresses of the host once, uses only those, follows no redirect, and
 * finishes within the policy's deadline.
 */
export class GitRemote extends Context.Service<
  GitRemote,
  {
    /** The commit that a ref resolves to. A commit id is returned unchanged, once the server has proved to be a Git server. */
    readonly resolve: (request: RemoteRequest & { readonly ref: GitRef }) => Effect.Effect<ResolvedRef, GitError>
    /** Like `resolve`, but with the checked address for a later fetch. */
    readonly locate: (request: RemoteRequest & { readonly ref: GitRef }) => Effect.Effect<LocatedRef, GitError>
    /** The newest `vX.Y.Z` or `X.Y.Z` tag. */
    readonly newestStableTag: (request: RemoteRequest) => Effect.Effect<StableVersion, GitError>
  }
>()("svc/runner/git/GitRemote") {
  static readonly layer = Layer.effect(
    GitRemote,
    Effect.gen(function* () {
      const policy = yield* GitPolicy

      const list = Effect.fnUntraced(
        function* (
          request: RemoteRequest,
          prefixes: ReadonlyArray<string>
        ): Effect.fn.Return<RefListing & { readonly endpoint: GitEndpoint }, GitError, Scope.Scope> {
          const endpoint = yield* pinEndpoint(request.url).pipe(Effect.provideService(GitPolicy, policy))
          const signal = yield* interruption
          const transport = makeGitTransport(endpoint, {
            credentials: request.credentials,
            maximum: { limit: "responseBytes", bytes: policy.limits.responseBytes },
            idle: policy.limits.idle,
            signal
          })
          const listing = yield* listRemoteRefs(transport, request.url, prefixes, policy.limits)
          const address = transport.connectedAddress()
          return { ...listing, endpoint: address === undefined ? endpoint : { url: request.url, addresses: [address] } }
        },
        Effect.scoped,
        Effect.timeoutOrElse({
          duration: policy.limits.deadline,
          orElse: () => Effect.fail(new GitTimedOut({ message: "The Git server took too long to list its refs." }))
        })
      )

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

      return GitRemote.of({ resolve, locate, newestStableTag })
    })
  )
}

/** A signal that is aborted when the Scope closes, for APIs that support only signals. */
const interruption = Effect.acquireRelease(
  Effect.sync(() => new AbortController()),
  (controller) => Effect.sync(() => controller.abort())
).pipe(Effect.map((controller) => controller.signal))
