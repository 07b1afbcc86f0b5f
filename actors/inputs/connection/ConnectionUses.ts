import { Context, Effect, Layer, Option } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { ConnectionUse, GrantedUse } from "../../../schema/records/ConnectionUse.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast } from "../../../schema/records/Workspace.ts"
import { Memberships } from "../../ledger/workspace/Memberships.ts"
import { type UseAttempt, decideUse } from "./ConnectionUse.ts"
import { useOf } from "./ConnectionStore.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"

/** The person whose authority allows the use: the person who started it or enabled the automation. */
export interface UseStarter {
  readonly subject: string | undefined
  readonly automatic: boolean
}

/** The Workspace, Project, module and ref for which a Connection is used. */
export interface UseSite extends Omit<UseAttempt, "role" | "automatic"> {
  readonly workspaceId: WorkspaceId
}

const nouns = { owner: "owners", admin: "admins", member: "members" } as const

const rolesOf = ({ roles }: ConnectionUse): string => {
  if (roles.includes("member")) return "owners, admins and members"
  return roles.includes("admin") ? "owners and admins" : nouns.owner
}

/** Creates the message for a refused use. It contains the Connection, the rule and the remedy. */
const refusal = (
  row: ConnectionRow,
  rule: ConnectionUse,
  because: "role" | "project" | "module" | "ref",
  attempt: UseAttempt
): string => {
  const name = JSON.stringify(row.display_name)
  const change = `An owner or admin can change who may use it: PATCH /api/v1/connections/${row.id}, field`
  const who = attempt.automatic
    ? "the person who enabled this automation is no such member any more, or is not recorded; let one of them enable it again"
    : `you are ${attempt.role === undefined ? "no member of the Workspace" : `a ${attempt.role}`}`
  switch (because) {
    case "role":
      return `The Connection ${name} may be used by ${rolesOf(rule)} (use.roles), and ${who}. ${change} use.roles.`
    case "project":
      return `The Connection ${name} is confined to other Projects (use.projectIds). ${change} use.projectIds.`
    case "module":
      return `The Connection ${name} is confined to other modules (use.modules). ${change} use.modules.`
    case "ref": {
      const refs =
        rule.refs === undefined
          ? "the adopted lane and the Source's default ref (use.refs names none)"
          : `the refs ${rule.refs.join(", ")} (use.refs)`
      return `The Connection ${name} is for ${refs}, not for ${attempt.ref}. An owner or admin has to start this, or allow the ref: PATCH /api/v1/connections/${row.id}, field use.refs.`
    }
  }
}

/** Applies the use rules of Connections, with the person's current role. */
export class ConnectionUses extends Context.Service<
  ConnectionUses,
  {
    /**
     * Returns the grounds on which the rule allows the use. Fails with `permission_denied`; the error contains the
     * Connection, its rule and the remedy.
     */
    readonly grant: (row: ConnectionRow, starter: UseStarter, site: UseSite) => Effect.Effect<GrantedUse, ApiError>
    /**
     * Returns true if the person is an owner or admin. Members can also change some settings, but these settings widen a
     * rule only if an owner or admin changed them.
     */
    readonly isManager: (subject: string | undefined, workspaceId: WorkspaceId) => Effect.Effect<boolean, ApiError>
  }
>()("svc/actors/inputs/connection/ConnectionUses") {
  static readonly layer = Layer.effect(
    ConnectionUses,
    Effect.gen(function* () {
      const memberships = yield* Memberships

      const roleOf = (subject: string | undefined, workspaceId: WorkspaceId) =>
        subject === undefined ? Effect.succeed(Option.none<Role>()) : memberships.role(subject, workspaceId)

      const grant = Effect.fn("ConnectionUses.grant")(function* (
        row: ConnectionRow,
        starter: UseStarter,
        { workspaceId, ...site }: UseSite
      ) {
        const role = Option.getOrUndefined(yield* roleOf(starter.subject, workspaceId))
        const rule = useOf(row)
        const attempt: UseAttempt = { ...site, role, automatic: starter.automatic }
        const decision = decideUse(rule, attempt)
        if (!decision.allowed) {
          return yield* new ApiError({
            code: "permission_denied",
            message: refusal(row, rule, decision.because, attempt)
          })
        }
        return {
          connectionName: row.display_name,
          connectionVersion: row.version,
          rule,
          role: decision.role,
          ref: site.ref,
          basis: decision.basis,
          automatic: starter.automatic
        } satisfies GrantedUse
      })

      return ConnectionUses.of({
        grant,
        isManager: (subject, workspaceId) =>
          Effect.map(
            roleOf(subject, workspaceId),
            Option.exists((role) => roleAtLeast(role, "admin"))
          )
      })
    })
  )
}
