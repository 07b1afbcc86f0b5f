import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { Member, Role } from "../../../schema/records/Workspace.ts"
import { makeAutomation } from "../account/AutomationSubjects.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { admitMember } from "../../ledger/workspace/MembershipRow.ts"
import { refuseArchived } from "../../ledger/workspace/Projects.ts"
import { makingRefusal, roleHeld } from "./InvitationRights.ts"
import type { MemberScope } from "./Members.ts"
import { providedService } from "../../base/Provided.ts"

export interface NewAutomation {
  readonly displayName: string
  /** Defaults to `member`. Cannot be `owner` or higher than the creator's role. */
  readonly role?: Role | undefined
}

/**
 * Members that never sign in. They have no address, password, passkey or external identity, and act only through personal access
 * tokens. Each automation belongs to the Workspace that created it. Use `Members` to change or remove them.
 */
export class AutomationMembers extends Context.Service<
  AutomationMembers,
  {
    /**
     * Creates an active member immediately, because an automation cannot accept an invitation. Fails with `permission_denied` if
     * the caller is not an admin or the role is higher than the caller's.
     */
    readonly create: (
      context: CommandContext,
      scope: MemberScope,
      automation: NewAutomation
    ) => Effect.Effect<Member, ApiError>
  }
>()("svc/actors/access/member/AutomationMembers") {
  static readonly layer = Layer.effect(
    AutomationMembers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit

      return yield* providedService(AutomationMembers, {
        create: Effect.fn("AutomationMembers.create")(function* (
          context,
          { acting, workspaceId },
          { displayName, role = "member" }
        ) {
          const refusal = makingRefusal(yield* roleHeld(workspaceId, acting), role)
          if (refusal !== undefined) return yield* refusal
          yield* refuseArchived(workspaceId)
          const subject = yield* makeAutomation(displayName, context.actor)
          yield* admitMember({ workspaceId, subject, role })
          yield* audit.append({
            workspaceId,
            actor: context.actor,
            action: "automation.create",
            target: { kind: "member", id: subject },
            data: { name: displayName, role },
            requestId: context.requestId
          })
          const at = yield* now
          return {
            subject,
            kind: "automation",
            displayName,
            role,
            status: "active",
            createdAt: at,
            updatedAt: at
          } satisfies Member
        }, transaction(sql))
      })
    })
  )
}
