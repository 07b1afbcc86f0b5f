import { Context, Schema } from "effect"
import { EmailDomain } from "../../../schema/records/EmailAddress.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Role } from "../../../schema/records/Workspace.ts"

/**
 * Gives an account and roles to people who sign in through the upstream provider. If a rule has several conditions, a person must
 * meet all of them.
 */
export const ProvisioningRule = Schema.Struct({
  /** Domains of addresses that the provider has verified. A subdomain is treated as a different domain. */
  emailDomains: Schema.optionalKey(Schema.NonEmptyArray(EmailDomain)),
  /** Groups at the provider. Being a member of one of these groups is sufficient. */
  groups: Schema.optionalKey(Schema.NonEmptyArray(Schema.NonEmptyString.check(Schema.isMaxLength(256)))),
  /** Matches everybody who signs in through the provider. Use it only if the provider serves a single organisation. */
  everybody: Schema.optionalKey(Schema.Literal(true)),
  /** Roles in Workspaces. If empty, the rule only gives an account. */
  workspaces: Schema.optionalKey(
    Schema.Array(Schema.Struct({ workspaceId: WorkspaceId, role: Role })).check(Schema.isMaxLength(200))
  )
})
export type ProvisioningRule = typeof ProvisioningRule.Type

export const SignInRules = Schema.Struct({
  rules: Schema.Array(ProvisioningRule).check(Schema.isMaxLength(200))
})
export type SignInRules = typeof SignInRules.Type

/**
 * How svc recognises people from the upstream provider: by their verified addresses, or as members of the provider's only
 * tenant.
 */
export const UpstreamTrust = Schema.Literals(["email_verified", "single_tenant"])
export type UpstreamTrust = typeof UpstreamTrust.Type

/** Returns the errors in rules, each with a JSON pointer into the list. */
export const ruleFaults = (
  rules: ReadonlyArray<ProvisioningRule>
): ReadonlyArray<{ readonly path: string; readonly message: string }> =>
  rules.flatMap(({ emailDomains, everybody, groups, workspaces = [] }, index) => {
    const faults: Array<{ path: string; message: string }> = []
    if (emailDomains === undefined && groups === undefined && everybody === undefined) {
      faults.push({ path: `/${index}`, message: "Names nobody. Give emailDomains, groups or everybody." })
    }
    if (new Set(workspaces.map(({ workspaceId }) => workspaceId)).size < workspaces.length) {
      faults.push({ path: `/${index}/workspaces`, message: "Names a Workspace twice." })
    }
    return faults
  })

/** Returns the reason why these rules do not work with this way of recognising people, or `undefined` if they do. */
export const rulesContradiction = (
  rules: ReadonlyArray<ProvisioningRule>,
  trust: UpstreamTrust
): string | undefined => {
  if (trust === "email_verified" && rules.some(({ everybody }) => everybody === true)) {
    return "A rule of signIn names everybody. That needs SVC_UPSTREAM_OIDC_TRUST=single_tenant: any other provider signs in people of everywhere."
  }
  return trust === "single_tenant" && rules.some(({ emailDomains }) => emailDomains !== undefined)
    ? "A signIn rule contains emailDomains, but SVC_UPSTREAM_OIDC_TRUST=single_tenant means that the provider verifies no addresses. Use groups or everybody."
    : undefined
}

/**
 * The current rules. If they are `undefined`, nobody gets an account by signing in. Read the rules on each use, because a
 * reload can change them.
 */
export const ProvisioningRules = Context.Reference<{ readonly rules: ReadonlyArray<ProvisioningRule> | undefined }>(
  "svc/actors/access/member/ProvisioningRules",
  { defaultValue: () => ({ rules: undefined }) }
)
