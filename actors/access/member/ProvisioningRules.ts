import { Context, Schema } from "effect"
import { EmailDomain } from "../../../schema/records/EmailAddress.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Role } from "../../../schema/records/Workspace.ts"

/**
 * The people who get an account by signing in through the upstream provider, and their roles. A rule with several conditions
 * applies only if all of them are met.
 */
export const ProvisioningRule = Schema.Struct({
  /** Domains of addresses verified by the provider; a subdomain is a different domain. */
  emailDomains: Schema.optionalKey(Schema.NonEmptyArray(EmailDomain)),
  /** Groups at the provider, any of which is enough. */
  groups: Schema.optionalKey(Schema.NonEmptyArray(Schema.NonEmptyString.check(Schema.isMaxLength(256)))),
  /** Anybody who signs in through the provider; only for a provider that serves a single organisation. */
  everybody: Schema.optionalKey(Schema.Literal(true)),
  /** Roles in Workspaces; empty for an account only. */
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
 * The method of recognising an identity at the upstream provider: by addresses that the provider has verified, or as a member of
 * its single tenant.
 */
export const UpstreamTrust = Schema.Literals(["email_verified", "single_tenant"])
export type UpstreamTrust = typeof UpstreamTrust.Type

/** Errors in rules, each at a JSON pointer below the list. */
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

/** The reason why these rules do not fit the method of recognising identities; `undefined` if they fit. */
export const rulesContradiction = (
  rules: ReadonlyArray<ProvisioningRule>,
  trust: UpstreamTrust
): string | undefined => {
  if (trust === "email_verified" && rules.some(({ everybody }) => everybody === true)) {
    return "A rule of signIn names everybody. That needs SVC_UPSTREAM_OIDC_TRUST=single_tenant: any other provider signs in people of everywhere."
  }
  return trust === "single_tenant" && rules.some(({ emailDomains }) => emailDomains !== undefined)
    ? "A rule of signIn names emailDomains, but SVC_UPSTREAM_OIDC_TRUST=single_tenant says that the provider verifies no addresses. Name groups or everybody."
    : undefined
}

/**
 * The rules in force; `undefined` without rules, in which case nobody is provisioned. Read at the point of use, since a reload
 * changes them.
 */
export const ProvisioningRules = Context.Reference<{ readonly rules: ReadonlyArray<ProvisioningRule> | undefined }>(
  "svc/actors/access/member/ProvisioningRules",
  { defaultValue: () => ({ rules: undefined }) }
)
