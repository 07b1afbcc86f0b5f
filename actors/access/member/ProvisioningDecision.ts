import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type MemberStatus, type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import type { ProvisioningRule, UpstreamTrust } from "./ProvisioningRules.ts"

/** The provider's claims at this sign-in. */
export interface ProvenClaims {
  readonly trust: UpstreamTrust
  readonly verifiedEmail?: string | undefined
  /** Absent if the provider did not send the claim, or did not send it as a list of names. Treated as no groups. */
  readonly groups?: ReadonlyArray<string> | undefined
}

/** A Workspace that rules name or used to name, and the person's membership in it. */
export interface HeldMembership {
  readonly workspaceId: WorkspaceId
  readonly archived: boolean
  /** Absent for a person who has never been a member. */
  readonly member?:
    | { readonly role: Role; readonly status: MemberStatus; readonly left: boolean; readonly lastOwner: boolean }
    | undefined
  /** The role that rules gave at the previous sign-in; `null` if they ended the membership, absent if they gave none. */
  readonly mapped?: Role | null | undefined
}

export type ProvisioningChange = { readonly workspaceId: WorkspaceId } & (
  | { readonly kind: "admit"; readonly role: Role }
  | { readonly kind: "set_role"; readonly role: Role }
  | { readonly kind: "end" }
  /** The membership has been changed by hand: the rules no longer apply to it. */
  | { readonly kind: "release" }
  /** The rules would lower or end it, but a Workspace must keep an owner. */
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
  // A sign-in does not reinstate members who have left, were suspended by hand, or await the operator.
  if (status !== "active") return status === "suspended" && mapped === null && !left ? admit : undefined
  if (mapped === undefined) return undefined
  if (mapped !== role) return { kind: "release", workspaceId }
  if (wanted === role) return undefined
  if (lastOwner) return { kind: "keep_last_owner", workspaceId }
  return wanted === undefined ? { kind: "end", workspaceId } : { kind: "set_role", workspaceId, role: wanted }
}

/**
 * The effect of a sign-in: the permission to create an account, and the memberships. Roles given by rules follow the rules in
 * both directions; roles given by people remain unchanged.
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
