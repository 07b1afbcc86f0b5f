import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { AccountToken } from "../../../schema/records/AccountToken.ts"
import { type AccessTokenId, Subject } from "../../../schema/records/Ids.ts"
import { type Role, roleAtLeast, SubjectKind } from "../../../schema/records/Workspace.ts"
import { AccessTokens, type CreatedAccessToken, type NewAccessToken } from "../account/AccessTokens.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"
import { permissionDenied, roleHeld } from "./InvitationRights.ts"
import type { MemberScope } from "./Members.ts"

export type NewAutomationToken = Pick<NewAccessToken, "name" | "scopes"> & { readonly expiresAt: string }

const KindShape = rowShape({ subject: Subject, kind: SubjectKind })

/**
 * Personal access tokens of a Workspace's automations. Owners and admins create and revoke them. Each token is bound to the
 * Workspace and expires.
 */
export class AutomationTokens extends Context.Service<
  AutomationTokens,
  {
    /**
     * Fails with `not_found` if the subject is not an automation of this Workspace, with `permission_denied` if the caller is not
     * an admin or the automation is suspended, and with `invalid_request` for invalid scopes or times.
     */
    readonly create: (
      context: CommandContext,
      scope: MemberScope,
      automation: string,
      token: NewAutomationToken
    ) => Effect.Effect<CreatedAccessToken, ApiError>
    /** Idempotent. Fails with `not_found` if the token does not belong to this automation. */
    readonly revoke: (
      context: CommandContext,
      scope: MemberScope,
      automation: string,
      tokenId: AccessTokenId
    ) => Effect.Effect<AccountToken, ApiError>
    /** Returns all tokens, including revoked tokens, oldest first. */
    readonly list: (
      scope: MemberScope,
      automation: string,
      page: PageRequest
    ) => Effect.Effect<Page<AccountToken>, ApiError>
  }
>()("svc/actors/access/member/AutomationTokens") {
  static readonly layer = Layer.effect(
    AutomationTokens,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tokens = yield* AccessTokens

      const requireRole = Effect.fnUntraced(
        function* (scope: MemberScope, role: Role) {
          const held = yield* roleHeld(scope.workspaceId, scope.acting)
          if (held === undefined || !roleAtLeast(held, role)) {
            return yield* permissionDenied("Owners and admins manage the tokens of automations; ask one of them.")
          }
        },
        Effect.provideService(SqlClient.SqlClient, sql)
      )

      /** Excludes people, because their tokens are private: nobody else can create, see or revoke these tokens. */
      const requireAutomation = Effect.fnUntraced(function* ({ workspaceId }: MemberScope, subject: string) {
        const [found] = yield* Effect.orDie(KindShape.rows(sql)`SELECT u.subject, u.kind FROM memberships m
          JOIN users u ON u.subject = m.subject WHERE m.workspace_id = ${workspaceId} AND m.subject = ${subject}`)
        return found?.kind === "automation" ? found.subject : yield* notFound("Automation")
      })

      return AutomationTokens.of({
        create: Effect.fn("AutomationTokens.create")(function* (context, scope, automation, token) {
          yield* requireRole(scope, "admin")
          const subject = yield* requireAutomation(scope, automation)
          const createdBy = scope.acting === "operator" ? undefined : scope.acting.subject
          return yield* tokens.create(context, subject, { ...token, workspaceId: scope.workspaceId, createdBy })
        }, transaction(sql)),
        revoke: Effect.fn("AutomationTokens.revoke")(function* (context, scope, automation, tokenId) {
          yield* requireRole(scope, "admin")
          return yield* tokens.revoke(context, yield* requireAutomation(scope, automation), tokenId)
        }, transaction(sql)),
        list: Effect.fn("AutomationTokens.list")(function* (scope, automation, page) {
          yield* requireRole(scope, "viewer")
          return yield* tokens.list(yield* requireAutomation(scope, automation), page)
        })
      })
    })
  )
}
