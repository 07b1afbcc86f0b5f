import type { TokenLimits } from "../../../schema/records/TokenLimits.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Clock, Duration, Effect } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { retention } from "../../../schema/records/Retention.ts"

/**
 * The kind of a caller's credential. In-process callers present no credential: the host vouches for the person (`host`), or
 * svc acts for itself (`service`). External requests can have neither kind.
 */
export type CredentialKind = "session" | "token" | "oauth" | "host" | "service"

/**
 * The owner of a credential, and what the credential may be used for. By itself, a principal grants nothing in any
 * Workspace.
 */
export interface Principal {
  readonly credential: CredentialKind
  /** The id of the session or token, never its secret. */
  readonly credentialId: string
  /** The grant of an OAuth token. It stays the same when the client renews the token. */
  readonly grantId?: string | undefined
  readonly subject: string
  readonly scopes: ReadonlyArray<string> | "all"
  /** Set if the credential is bound to one Workspace. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  /** Time at which the person last confirmed their identity, in milliseconds since the Unix epoch. Set only for sessions. */
  readonly confirmedAt?: number | undefined
  /** Set if the credential is restricted within its Workspace. */
  readonly limits?: TokenLimits | undefined
  /** True if this request extended the session, so that the session's cookie must also be extended. */
  readonly renewed?: boolean | undefined
}

/**
 * Returns the part of a credential that stays the same when its token is renewed. Confirmations and links that are tied to
 * this part remain valid after a renewal.
 */
export const holderOf = ({ credentialId, grantId }: Pick<Principal, "credentialId" | "grantId">): string =>
  grantId ?? credentialId

const lifetime = Duration.toMillis(retention.confirmation.after)

/** Returns true if the person confirmed their identity recently enough. */
export const isConfirmed = ({ confirmedAt }: Principal): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (millis) => confirmedAt !== undefined && millis - confirmedAt < lifetime)

/** Fails with the same error for every sensitive action, so that clients can handle the error in one place. */
export const requireConfirmed = (principal: Principal): Effect.Effect<void, ApiError> =>
  Effect.flatMap(isConfirmed(principal), (confirmed) =>
    confirmed
      ? Effect.void
      : new ApiError({
          code: "reauthentication_required",
          message:
            "Confirm first that it is you, by password, passkey or single sign-on (`/auth/confirmation`), and repeat the request within five minutes."
        })
  )
