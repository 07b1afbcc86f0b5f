import { Context, type Effect, Schema } from "effect"
import type {
  ForgeAccount,
  ForgeCredential,
  ForgeKind,
  ForgePullRequest,
  ForgeRepository,
  ForgeStatusState
} from "../../schema/records/Forge.ts"

/** A forge, and the credential with which svc signs in. */
export interface ForgeAccess {
  readonly kind: ForgeKind
  /** Address of the forge's website, such as `https://github.com`; its API is derived from this. */
  readonly address: string
  readonly credential: ForgeCredential
}

/**
 * A failed request to a forge. The message is human-readable, and contains neither a secret nor text from the forge.
 *
 * - `unauthorized`: the forge does not accept the credential
 * - `forbidden`: the credential has too few permissions
 * - `missing`: the repository, pull request or comment does not exist, or the credential may not see it
 * - `limited`: the forge rejects all requests for the next `retryAfter` seconds
 * - `rejected`: the forge rejects this request, and would reject a repetition
 * - `unavailable`: the forge did not respond, or reported an internal error
 * - `unreadable`: the forge's response does not match its documentation
 * - `refused`: the network policy does not allow the address
 */
export class ForgeFailure extends Schema.TaggedError<ForgeFailure>()("ForgeFailure", {
  reason: Schema.Literals([
    "unauthorized",
    "forbidden",
    "missing",
    "limited",
    "rejected",
    "unavailable",
    "unreadable",
    "refused"
  ]),
  message: Schema.String,
  /** Seconds after which the forge accepts requests again. */
  retryAfter: Schema.optionalKey(Schema.Int)
}) {}

/** Result of a test: the account that the credential belongs to, and the permissions that it lacks. */
export interface ForgeTest {
  readonly account: ForgeAccount
  /** Names of the missing permissions, as the forge calls them. */
  readonly missing: ReadonlyArray<string>
}

/** A repository's pull requests. `complete` is false if the forge has more pull requests than svc read. */
export interface ForgePullRequestList {
  readonly pullRequests: ReadonlyArray<ForgePullRequest>
  readonly complete: boolean
}

export interface ForgeComment {
  readonly id: string
  readonly author: ForgeAccount
  readonly body: string
}

/** A new comment on a pull request. */
export interface ForgeRemark extends ForgeComment {
  readonly number: number
  readonly createdAt: string
}

/** The status of a commit in one context. */
export interface ForgeStatus {
  readonly context: string
  readonly state: ForgeStatusState
  readonly description: string
  readonly url: string
  /** Longer text in Markdown, for forges that show it with a check. */
  readonly summary?: string | undefined
}

type Asked<A> = Effect.Effect<A, ForgeFailure>

/**
 * Reads pull requests, and writes comments and statuses, on GitHub, GitLab and Forgejo. Sends requests only to public addresses
 * over https, or to origins that the operator allows. Finds a renamed repository by its id.
 */
export class Forge extends Context.Service<
  Forge,
  {
    /** Tests the credential with each repository. Changes nothing. */
    readonly test: (access: ForgeAccess, paths: ReadonlyArray<string>) => Asked<ForgeTest>
    /** Returns the account that writes the credential's comments. */
    readonly account: (access: ForgeAccess) => Asked<ForgeAccount>
    /** Finds a repository by its path, such as `team/network`. */
    readonly repository: (access: ForgeAccess, path: string) => Asked<ForgeRepository>
    /** Finds a repository by its id, because its path may have changed. */
    readonly repositoryWithId: (access: ForgeAccess, id: string) => Asked<ForgeRepository>
    readonly openPullRequests: (access: ForgeAccess, repository: ForgeRepository) => Asked<ForgePullRequestList>
    readonly pullRequest: (access: ForgeAccess, repository: ForgeRepository, number: number) => Asked<ForgePullRequest>
    /** Returns true if the account may push to the repository. */
    readonly mayWrite: (access: ForgeAccess, repository: ForgeRepository, account: ForgeAccount) => Asked<boolean>
    /**
     * Returns at most one page of the comments that were made on the repository's pull requests since the given time, oldest
     * first. May include slightly older comments.
     */
    readonly commentsSince: (
      access: ForgeAccess,
      repository: ForgeRepository,
      since: string
    ) => Asked<ReadonlyArray<ForgeRemark>>
    /** Finds the author's oldest comment that contains the marker. */
    readonly findComment: (
      access: ForgeAccess,
      repository: ForgeRepository,
      number: number,
      marker: string,
      author: ForgeAccount
    ) => Asked<ForgeComment | undefined>
    readonly createComment: (
      access: ForgeAccess,
      repository: ForgeRepository,
      number: number,
      body: string
    ) => Asked<ForgeComment>
    /** Fails with `missing` if somebody deleted the comment. */
    readonly editComment: (
      access: ForgeAccess,
      repository: ForgeRepository,
      number: number,
      commentId: string,
      body: string
    ) => Asked<void>
    /** Deletes a comment of the credential's account. Fails with `missing` if somebody has deleted it already. */
    readonly deleteComment: (
      access: ForgeAccess,
      repository: ForgeRepository,
      number: number,
      commentId: string
    ) => Asked<void>
    /**
     * Sets the state of a commit in the pull request, or of its merge commit. Writes a check if the credential may write
     * checks (only GitHub Apps may), otherwise a commit status. A check offers no actions to its readers.
     */
    readonly setStatus: (
      access: ForgeAccess,
      repository: ForgeRepository,
      number: number,
      commit: string,
      status: ForgeStatus
    ) => Asked<void>
  }
>()("svc/runner/forge/Forge") {}
