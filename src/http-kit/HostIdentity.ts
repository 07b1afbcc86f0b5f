import { Context } from "effect"
import type { Principal } from "../../actors/base/credential/Principal.ts"
import type { WorkspaceId } from "../../schema/records/Ids.ts"
import { limitsOf } from "../../schema/records/TokenLimits.ts"

/**
 * Identity under which a program in this process acts: either a person, with the permissions of a token with these scopes,
 * or svc itself.
 */
export type HostIdentity =
  | {
      readonly kind: "user"
      readonly subject: string
      readonly scopes: ReadonlyArray<string>
      readonly workspaceId?: WorkspaceId | undefined
    }
  | { readonly kind: "service" }

/**
 * Identity of an in-process call, which replaces a credential. Only the in-process transport sets this identity, so requests
 * from a listener or a host's server never have it.
 */
export const AmbientIdentity = Context.Reference<HostIdentity | undefined>("svc/src/http-kit/AmbientIdentity", {
  defaultValue: () => undefined
})

/** Converts an identity to a principal. Idempotency keys and cached responses distinguish identities by `credentialId`. */
export const hostPrincipal = (identity: HostIdentity): Principal => {
  if (identity.kind === "service") {
    return { credential: "service", credentialId: "service", subject: "", scopes: "all" }
  }
  const { scopes, subject, workspaceId } = identity
  const limits = limitsOf(scopes)
  return {
    credential: "host",
    credentialId: ["host", subject, workspaceId ?? "", ...[...scopes].sort()].join(" "),
    subject,
    scopes,
    ...(workspaceId === undefined ? {} : { boundWorkspaceId: workspaceId }),
    ...(limits === undefined ? {} : { limits })
  }
}
