import type { WorkspaceId } from "../../schema/records/Ids.ts"

/** Who a credential belongs to, and what it may be used for. Being one says nothing yet about any Workspace. */
export interface Principal {
  readonly credential: "session" | "token" | "oauth"
  /** Session or token id; never the secret. */
  readonly credentialId: string
  readonly subject: string
  readonly scopes: ReadonlyArray<string> | "all"
  /** Set when the credential is bound to one Workspace. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  /** Set when this use moved the end of the session: the cookie that carries it has to last as long. */
  readonly renewed?: boolean | undefined
}
