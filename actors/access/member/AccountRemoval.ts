import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { eraseAccount } from "../account/ErasedAccount.ts"
import { Users } from "../account/Users.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { endMemberships, ownedAlone } from "../../ledger/workspace/MembershipRow.ts"

/** Deletes an account, including its memberships. */
export class AccountRemoval extends Context.Service<
  AccountRemoval,
  {
    /**
     * Revokes sessions, tokens, grants, memberships and sign-in methods, and erases personal data. The person's actions remain in
     * the operation history. Fails with `not_found` if the account does not exist, and with `failed_precondition` if the
     * person is the last owner of a Workspace.
     */
    readonly remove: (context: CommandContext, subject: string) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/member/AccountRemoval") {
  static readonly layer = Layer.effect(
    AccountRemoval,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const users = yield* Users
      const audit = yield* Audit

      return AccountRemoval.of({
        remove: Effect.fn("AccountRemoval.remove")(
          function* (context, subject) {
            const user = yield* users.find(subject)
            if (Option.isNone(user) || user.value.status === "deleted") return yield* notFound("Account")
            const alone = yield* ownedAlone(subject)
            if (alone.length > 0) {
              return yield* failedPrecondition(
                `The account is the last owner of ${alone.join(", ")}. Make another member owner there, or archive the Workspace, and repeat the command.`
              )
            }
            // Also revokes sessions and grants.
            yield* users.setStatus(context, subject, "disabled")
            yield* endMemberships(subject)
            yield* eraseAccount(subject)
            yield* audit.append({
              workspaceId: null,
              actor: context.actor,
              action: "account.delete",
              target: { kind: "user", id: subject },
              requestId: context.requestId
            })
          },
          transaction(sql),
          Effect.provideService(SqlClient.SqlClient, sql)
        )
      })
    })
  )
}
