import type { TokenLimits } from "../../../schema/records/TokenLimits.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Clock, Duration, Effect } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { retention } from "../../../schema/records/Retention.ts"

/**
 * The kind of a caller's credential. In-process callers present no credential: the host vouches for the person (`host`), or svc
 * acts for itself (`service`). External requests can have neither kind.
 */
export type CredentialKind = "session" | "token" | "oauth" | "host" | "service"

/** The owner of a credential and its permitted uses. Grants nothing in any Workspace yet. */
export interface Principal {
  readonly credential: CredentialKind
  /** The id of the session or token, never its secret. */
  readonly credentialId: string
  /** The grant of an OAuth token. It remains the same when the client renews the token. */
  readonly grantId?: string | undefined
  readonly subject: string
  readonly scopes: ReadonlyArray<string> | "all"
  /** Set if the credential is bound to one Workspace. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  /** The time at which the person last confirmed their identity, in milliseconds since the Unix epoch. Set only for sessions. */
  readonly confirmedAt?: number | undefined
  /** Set if the credential is restricted within its Workspace. */
  readonly limits?: TokenLimits | undefined
  /** True if this request extended the session. Its cookie must then be extended too. */
  readonly renewed?: boolean | undefined
}

/** The stable part of a credential. Confirmations and links for it remain valid when its token is renewed. */
export const holderOf = ({ credentialId, grantId }: Pick<Principal, "credentialId" | "grantId">): string =>
  grantId ?? credentialId

const lifetime = Duration.toMillis(retention.confirmation.after)

/** Returns true if the person confirmed their identity recently enough. */
export const isConfirmed = ({ confirmedAt }: Principal): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (millis) => confirmedAt !== undefined && millis - confirmedAt < lifetime)

/** Fails with the same error for every sensitive action, so that clients can handle it in one place. */
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
