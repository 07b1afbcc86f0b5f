import type { ConnectionUse, UsedModule } from "../../../schema/records/ConnectionUse.ts"
import { isWithinOrigins } from "../../../schema/records/CredentialOrigin.ts"
import type { ProjectId } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import type { OpenedForRef } from "../../../schema/records/OpenedForRef.ts"

/**
 * Facts that determine whether a ref is reviewed. Private inputs, states and Connections are available only to reviewed
 * refs: the adopted lane, the Source's default, and refs that a rule allows. Code from any other ref could transform private
 * data so that redaction does not recognise it, so an owner or admin must start its plan in person.
 */
export interface RefAttempt {
  readonly ref: string
  /** The adopted lane and the Source's default. */
  readonly lanes: ReadonlyArray<string>
  /** True if svc itself resolved one of `lanes` to the commit. */
  readonly isOfLane: boolean
  /** The refs that a rule allows. */
  readonly allowed: ReadonlyArray<string>
  readonly isManager: boolean
  readonly automatic: boolean
}

/** Returns the grounds on which code at the ref may receive private data, or `undefined` if it may not. */
export const decideRef = (attempt: RefAttempt): "lane" | OpenedForRef["basis"] | undefined => {
  if (attempt.isOfLane || attempt.lanes.includes(attempt.ref)) return "lane"
  if (attempt.allowed.includes(attempt.ref)) return "rule"
  return attempt.isManager && !attempt.automatic ? "other_ref" : undefined
}

/** Facts about one use of a Connection, for comparison with the Connection's rule. */
export interface UseAttempt {
  /**
   * The role of the person who started the use or enabled its automation; `undefined` if there is no such person or they are
   * no longer a member.
   */
  readonly role: Role | undefined
  readonly automatic: boolean
  /** Absent for a Git Connection, because a Source does not belong to a Project. */
  readonly projectId?: ProjectId | undefined
  /** The module; its `path` is absent until a module has been selected. */
  readonly module?: { readonly url: string; readonly path: string | undefined } | undefined
  readonly ref: string
  /** The refs that apply if the rule contains none: those of the adopted lane and of the Source's default. */
  readonly defaultRefs: ReadonlyArray<string>
  /** True if a snapshot of one of the default refs has this commit. */
  readonly isOfLane: boolean
  /** True if the Source's rule for pull requests allows the ref. Ignored if the Connection's rule contains `refs`. */
  readonly isAllowedBySource?: boolean | undefined
}

export type UseDecision =
  | { readonly allowed: true; readonly role: Role; readonly basis: "rule" | "other_ref" }
  | { readonly allowed: false; readonly because: "role" | "project" | "module" | "ref" }

const isModule = ({ origin, path }: UsedModule, asked: NonNullable<UseAttempt["module"]>): boolean =>
  isWithinOrigins([origin], asked.url) && (asked.path === undefined || asked.path === path)

const refused = (because: "role" | "project" | "module" | "ref"): UseDecision => ({ allowed: false, because })

/**
 * Decides whether a rule allows a use of a Connection. Limits on Projects and modules apply to everybody. For a ref that the rule
 * does not allow, an owner or admin must start the Run in person, because a plan runs unreviewed code with these credentials.
 */
export const decideUse = (rule: ConnectionUse, attempt: UseAttempt): UseDecision => {
  const { role } = attempt
  if (role === undefined || !rule.roles.some((granted) => roleAtLeast(role, granted))) return refused("role")
  if (rule.projectIds !== undefined && !rule.projectIds.some((id) => id === attempt.projectId))
    return refused("project")
  const { module } = attempt
  if (rule.modules !== undefined && (module === undefined || !rule.modules.some((one) => isModule(one, module)))) {
    return refused("module")
  }
  const basis = decideRef({
    ref: attempt.ref,
    // Refs in a rule replace the default refs.
    lanes: rule.refs === undefined ? attempt.defaultRefs : [],
    isOfLane: rule.refs === undefined && attempt.isOfLane,
    allowed: rule.refs ?? (attempt.isAllowedBySource === true ? [attempt.ref] : []),
    isManager: roleAtLeast(role, "admin"),
    automatic: attempt.automatic
  })
  if (basis === undefined) return refused("ref")
  return { allowed: true, role, basis: basis === "lane" ? "rule" : basis }
}
