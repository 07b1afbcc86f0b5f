import { Schema } from "effect"
import { CommitId } from "./Primitives.ts"

/** The product that a forge runs. Gitea has the same API as Forgejo. */
export const ForgeKind = Schema.Literals(["github", "gitlab", "forgejo"])
export type ForgeKind = typeof ForgeKind.Type

const SecretString = Schema.RedactedFromValue(Schema.String)

/** The credential with which svc signs in to a forge: an installation of a GitHub App, or a token. */
export const ForgeCredential = Schema.Union([
  Schema.TaggedStruct("App", {
    appId: Schema.String,
    /** If absent, the App has one installation, which svc looks up. */
    installationId: Schema.optionalKey(Schema.String),
    /** RSA private key of the App, as PEM. */
    privateKey: SecretString
  }),
  Schema.TaggedStruct("Token", { token: SecretString })
])
export type ForgeCredential = typeof ForgeCredential.Type

/** A repository. The id stays the same when the repository is renamed or moves to another owner. */
export const ForgeRepository = Schema.Struct({ id: Schema.String, path: Schema.String })
export type ForgeRepository = typeof ForgeRepository.Type

/** An account on a forge. The id stays the same when the login is changed. */
export const ForgeAccount = Schema.Struct({ id: Schema.String, login: Schema.String })
export type ForgeAccount = typeof ForgeAccount.Type

export const ForgePullRequestState = Schema.Literals(["open", "closed", "merged"])
export type ForgePullRequestState = typeof ForgePullRequestState.Type

/** A pull request, or a merge request on GitLab, as returned by its forge. */
export class ForgePullRequest extends Schema.Opaque<ForgePullRequest>()(
  Schema.Struct({
    number: Schema.Int,
    title: Schema.String,
    url: Schema.String,
    state: ForgePullRequestState,
    draft: Schema.Boolean,
    author: ForgeAccount,
    headCommit: CommitId,
    /** Name of the branch. */
    headRef: Schema.String,
    /** `null` if the repository of the branch was deleted or the credential cannot see it. */
    headRepositoryId: Schema.NullOr(Schema.String),
    baseRef: Schema.String,
    baseRepositoryId: Schema.String,
    mergeCommit: Schema.NullOr(CommitId)
  })
) {}

/**
 * Returns true if the branch is in a different repository from the base. An unknown repository is treated as different,
 * because svc cannot verify that somebody with access to the base pushed the branch.
 */
export const isForeignHead = (pullRequest: Pick<ForgePullRequest, "headRepositoryId" | "baseRepositoryId">): boolean =>
  pullRequest.headRepositoryId !== pullRequest.baseRepositoryId

/** The status of a commit in one context, as forges display it. */
export const ForgeStatusState = Schema.Literals(["pending", "success", "failure", "error"])
export type ForgeStatusState = typeof ForgeStatusState.Type
