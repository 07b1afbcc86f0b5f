import type { ConnectionUse, UsedModule } from "../../../schema/records/ConnectionUse.ts"
import { isWithinOrigins } from "../../../schema/records/CredentialOrigin.ts"
import type { ProjectId } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import type { OpenedForRef } from "../../../schema/records/OpenedForRef.ts"

/**
 * The facts that decide if a ref is reviewed. Private inputs, state and Connections are for reviewed refs: the adopted lane, the
 * Source's default, and the refs that a rule allows. The code of any other ref computes with its private data, and redaction does
 * not recognise the results, so an owner or admin has to start its plan in person.
 */
export interface RefAttempt {
  readonly ref: string
  /** The adopted lane and the Source's default. */
  readonly lanes: ReadonlyArray<string>
  /** True if svc itself resolved one of those lanes to the commit. */
  readonly isOfLane: boolean
  /** The refs that a rule allows. */
  readonly allowed: ReadonlyArray<string>
  readonly isManager: boolean
  readonly automatic: boolean
}

/** The basis on which the ref receives private data; `undefined` if it does not. */
export const decideRef = (attempt: RefAttempt): "lane" | OpenedForRef["basis"] | undefined => {
  if (attempt.isOfLane || attempt.lanes.includes(attempt.ref)) return "lane"
  if (attempt.allowed.includes(attempt.ref)) return "rule"
  return attempt.isManager && !attempt.automatic ? "other_ref" : undefined
}

/** The properties of an intended use of a Connection that determine whether its rule allows it. */
export interface UseAttempt {
  /**
   * The role of the person who started it or enabled the automation; `undefined` without such a person, or if they are no longer
   * a member.
   */
  readonly role: Role | undefined
  readonly automatic: boolean
  /** Absent without a Project: a Git Connection serves Sources. */
  readonly projectId?: ProjectId | undefined
  /** Has no path until a module is chosen. */
  readonly module?: { readonly url: string; readonly path: string | undefined } | undefined
  readonly ref: string
  /** The default refs of a rule: the adopted lane and the Source's default. */
  readonly defaultRefs: ReadonlyArray<string>
  /** True if a snapshot of one of the default refs has the commit. */
  readonly isOfLane: boolean
}

export type UseDecision =
  | { readonly allowed: true; readonly role: Role; readonly basis: "rule" | "other_ref" }
  | { readonly allowed: false; readonly because: "role" | "project" | "module" | "ref" }

const isModule = ({ origin, path }: UsedModule, asked: NonNullable<UseAttempt["module"]>): boolean =>
  isWithinOrigins([origin], asked.url) && (asked.path === undefined || asked.path === path)

const refused = (because: "role" | "project" | "module" | "ref"): UseDecision => ({ allowed: false, because })

/**
 * Decides if a rule lets a Connection be used. Projects and modules restrict everybody; any other ref requires an owner or admin
 * who starts it in person, because a plan runs unreviewed code with these credentials.
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
    // A rule with refs replaces the default ones.
    lanes: rule.refs === undefined ? attempt.defaultRefs : [],
    isOfLane: rule.refs === undefined && attempt.isOfLane,
    allowed: rule.refs ?? [],
    isManager: roleAtLeast(role, "admin"),
    automatic: attempt.automatic
  })
  if (basis === undefined) return refused("ref")
  return { allowed: true, role, basis: basis === "lane" ? "rule" : basis }
}
