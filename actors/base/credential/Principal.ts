import type { TokenLimits } from "../../../schema/records/TokenLimits.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Clock, Duration, Effect } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { retention } from "../../../schema/records/Retention.ts"

/**
 * The kind of credential that a caller presented. In-process callers present no credential: the host guarantees the person's
 * identity (`host`), or the service acts on its own behalf (`service`). An external request can have neither kind.
 */
export type CredentialKind = "session" | "token" | "oauth" | "host" | "service"

/** The owner of a credential, and its permitted uses. Implies nothing about any Workspace yet. */
export interface Principal {
  readonly credential: CredentialKind
  /** Session or token id; never the secret. */
  readonly credentialId: string
  readonly subject: string
  readonly scopes: ReadonlyArray<string> | "all"
  /** Set when the credential is bound to one Workspace. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  /** The time of the last confirmation by the person behind a session, in milliseconds since the epoch (1970). */
  readonly confirmedAt?: number | undefined
  /** Set when the credential is confined within its Workspace. */
  readonly limits?: TokenLimits | undefined
  /** True if this use extended the session, whose cookie must then last as long. */
  readonly renewed?: boolean | undefined
}

const lifetime = Duration.toMillis(retention.confirmation.after)

/** True if the person behind the session has confirmed their identity recently enough. */
export const isConfirmed = ({ confirmedAt }: Principal): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (millis) => confirmedAt !== undefined && millis - confirmedAt < lifetime)

/** The same response wherever a sensitive action needs confirmation, so that clients can handle it in one place. */
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
