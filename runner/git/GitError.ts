import { Schema } from "effect"

const Message = { message: Schema.String }

/**
 * The value is not a Git URL from which svc may fetch. The error never contains the value, because the value may include a
 * password.
 */
export class GitUrlRefused extends Schema.TaggedError<GitUrlRefused>()("GitUrlRefused", Message) {}

/** The value is not the name of a Git ref or commit. */
export class GitRefRefused extends Schema.TaggedError<GitRefRefused>()("GitRefRefused", Message) {}

/** The repository has no such branch, tag or commit, or refuses to serve it. */
export class GitRefNotFound extends Schema.TaggedError<GitRefNotFound>()("GitRefNotFound", {
  ref: Schema.String,
  ...Message
}) {}

/** A short name is both a branch and a tag. */
export class GitRefAmbiguous extends Schema.TaggedError<GitRefAmbiguous>()("GitRefAmbiguous", {
  ref: Schema.String,
  candidates: Schema.Array(Schema.String),
  ...Message
}) {}

/** The ref no longer points to the commit that was resolved or expected. */
export class GitRefMoved extends Schema.TaggedError<GitRefMoved>()("GitRefMoved", {
  ref: Schema.String,
  expectedCommit: Schema.String,
  ...Message
}) {}

/** No tag is a stable SemVer version. */
export class GitNoStableVersion extends Schema.TaggedError<GitNoStableVersion>()("GitNoStableVersion", Message) {}

/** The newest stable version is ambiguous: it is tagged both with and without the leading `v`. */
export class GitVersionAmbiguous extends Schema.TaggedError<GitVersionAmbiguous>()("GitVersionAmbiguous", {
  version: Schema.String,
  tags: Schema.Array(Schema.String),
  ...Message
}) {}

/** The repository has no commits. */
export class GitRepositoryEmpty extends Schema.TaggedError<GitRepositoryEmpty>()("GitRepositoryEmpty", Message) {}

/** The server has no repository at this URL. */
export class GitRepositoryNotFound extends Schema.TaggedError<GitRepositoryNotFound>()(
  "GitRepositoryNotFound",
  Message
) {}

/** The server requires credentials, or rejected the given credentials. */
export class GitAuthenticationFailed extends Schema.TaggedError<GitAuthenticationFailed>()(
  "GitAuthenticationFailed",
  Message
) {}

/** The host is an address that is not public, or resolves to such an address. */
export class GitAddressRefused extends Schema.TaggedError<GitAddressRefused>()("GitAddressRefused", {
  host: Schema.String,
  ...Message
}) {}

/** The request would send the credentials to an origin other than their own. */
export class GitCredentialsWithheld extends Schema.TaggedError<GitCredentialsWithheld>()(
  "GitCredentialsWithheld",
  Message
) {}

/** The server responded with a redirect. */
export class GitRedirectRefused extends Schema.TaggedError<GitRedirectRefused>()("GitRedirectRefused", Message) {}

/** The limit from `GitPolicy.limits` that was exceeded. */
export const GitLimit = Schema.Literals([
  "packBytes",
  "responseBytes",
  "refs",
  "files",
  "fileBytes",
  "totalBytes",
  "depth",
  "rssBytes"
])
export type GitLimit = typeof GitLimit.Type

/** The repository is larger than the operator allows. */
export class GitLimitExceeded extends Schema.TaggedError<GitLimitExceeded>()("GitLimitExceeded", {
  limit: GitLimit,
  maximum: Schema.Finite,
  ...Message
}) {}

/** The connection or the server failed. */
export class GitUnreachable extends Schema.TaggedError<GitUnreachable>()("GitUnreachable", Message) {}

/** The server did not follow Git's protocol, or sent damaged data. */
export class GitProtocolBroken extends Schema.TaggedError<GitProtocolBroken>()("GitProtocolBroken", Message) {}

/** The operation took too long, or the server paused for too long. */
export class GitTimedOut extends Schema.TaggedError<GitTimedOut>()("GitTimedOut", Message) {}

/** The operator requires native git, but native git is missing, too old, or unusable for this request. */
export class GitNativeUnavailable extends Schema.TaggedError<GitNativeUnavailable>()("GitNativeUnavailable", Message) {}

/** Reasons why a remote repository could not be read. The messages are written for users and contain no secrets. */
export const GitError = Schema.Union([
  GitRefNotFound,
  GitRefAmbiguous,
  GitRefMoved,
  GitNoStableVersion,
  GitVersionAmbiguous,
  GitRepositoryEmpty,
  GitRepositoryNotFound,
  GitAuthenticationFailed,
  GitAddressRefused,
  GitCredentialsWithheld,
  GitRedirectRefused,
  GitLimitExceeded,
  GitUnreachable,
  GitProtocolBroken,
  GitTimedOut,
  GitNativeUnavailable
])
export type GitError = typeof GitError.Type

export const isGitError = Schema.is(GitError)
