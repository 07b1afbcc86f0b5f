import type { TokenLimits } from "../../../schema/records/TokenLimits.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"

/**
 * What a caller presented. In-process callers present nothing: the host guarantees the person's identity (`host`), or the service
 * acts on its own behalf (`service`). No external request can be either of these.
 */
export type CredentialKind = "session" | "token" | "oauth" | "host" | "service"

/** The owner of a credential, and what it may be used for. Implies nothing about any Workspace yet. */
export interface Principal {
  readonly credential: CredentialKind
  /** Session or token id; never the secret. */
  readonly credentialId: string
  readonly subject: string
  readonly scopes: ReadonlyArray<string> | "all"
  /** Set when the credential is bound to one Workspace. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  /** When the person behind a session last confirmed their identity, in milliseconds since the epoch (1970). */
  readonly confirmedAt?: number | undefined
  /** Set when the credential is confined within its Workspace. */
  readonly limits?: TokenLimits | undefined
  /** Set when this use extended the session: its cookie must last as long. */
  readonly renewed?: boolean | undefined
}
