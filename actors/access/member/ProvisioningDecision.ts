import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type MemberStatus, type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import type { ProvisioningRule, UpstreamTrust } from "./ProvisioningRules.ts"

/** The claims that the provider sent for this sign-in. */
export interface ProvenClaims {
  readonly trust: UpstreamTrust
  readonly verifiedEmail?: string | undefined
  /** Absent if the provider did not send the claim as a list of names; the person is then treated as having no groups. */
  readonly groups?: ReadonlyArray<string> | undefined
}

/** A Workspace in the current or earlier rules, and the person's membership in it. */
export interface HeldMembership {
  readonly workspaceId: WorkspaceId
  readonly archived: boolean
  /** Absent if the person has never been a member. */
  readonly member?:
    | { readonly role: Role; readonly status: MemberStatus; readonly left: boolean; readonly lastOwner: boolean }
    | undefined
  /**
   * The role that the rules assigned at the previous sign-in; `null` if the rules ended the membership, absent if they
   * assigned no role.
   */
  readonly mapped?: Role | null | undefined
}

export type ProvisioningChange = { readonly workspaceId: WorkspaceId } & (
  | { readonly kind: "admit"; readonly role: Role }
  | { readonly kind: "set_role"; readonly role: Role }
  | { readonly kind: "end" }
  /** Somebody changed the membership manually, so the rules no longer apply to it. */
  | { readonly kind: "release" }
  /** The rules would lower or end the membership, but the Workspace must keep an owner. */
  | { readonly kind: "keep_last_owner" }
)

const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1)

const holds = (rule: ProvisioningRule, { groups = [], trust, verifiedEmail }: ProvenClaims): boolean => {
  const { emailDomains, everybody, groups: named } = rule
  if (emailDomains === undefined && named === undefined && everybody === undefined) return false
  if (everybody === true && trust !== "single_tenant") return false
  if (emailDomains !== undefined && (verifiedEmail === undefined || !emailDomains.includes(domainOf(verifiedEmail)))) {
    return false
  }
  return named === undefined || named.some((group) => groups.includes(group))
}

const higher = (one: Role | undefined, other: Role): Role =>
  one !== undefined && roleAtLeast(one, other) ? one : other

const changeOf = (
  { archived, mapped, member, workspaceId }: HeldMembership,
  wanted: Role | undefined
): ProvisioningChange | undefined => {
  const admit = wanted === undefined || archived ? undefined : ({ kind: "admit", workspaceId, role: wanted } as const)
  if (member === undefined) return admit
  const { lastOwner, left, role, status } = member
  // A sign-in does not restore the membership of people who have left, were suspended manually, or are waiting for the
  // operator.
  if (status !== "active") return status === "suspended" && mapped === null && !left ? admit : undefined
  if (mapped === undefined) return undefined
  if (mapped !== role) return { kind: "release", workspaceId }
  if (wanted === role) return undefined
  if (lastOwner) return { kind: "keep_last_owner", workspaceId }
  return wanted === undefined ? { kind: "end", workspaceId } : { kind: "set_role", workspaceId, role: wanted }
}

/**
 * Decides the effects of a sign-in: whether it may create an account, and which memberships it changes. The rules can raise
 * and lower the roles that they assigned, but do not change roles that people assigned.
 */
export const provisioningDecision = (
  rules: ReadonlyArray<ProvisioningRule>,
  claims: ProvenClaims,
  held: ReadonlyArray<HeldMembership>
): { readonly admitted: boolean; readonly changes: ReadonlyArray<ProvisioningChange> } => {
  const holding = rules.filter((rule) => holds(rule, claims))
  const wanted = new Map<WorkspaceId, Role>()
  for (const { role, workspaceId } of holding.flatMap(({ workspaces = [] }) => workspaces)) {
    wanted.set(workspaceId, higher(wanted.get(workspaceId), role))
  }
  const changes = held.flatMap((each) => changeOf(each, wanted.get(each.workspaceId)) ?? [])
  return { admitted: holding.length > 0, changes }
}
