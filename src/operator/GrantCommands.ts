import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Operators } from "../../actors/access/account/Operators.ts"
import { type User, Users } from "../../actors/access/account/Users.ts"
import { Audit } from "../../actors/base/audit/Audit.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { newId } from "../../actors/base/Identity.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { Subject } from "../../schema/records/Ids.ts"

/**
 * A person who operates the installation. `disabled` means that the person cannot act as an operator until their account is
 * enabled again.
 */
const Operator = Schema.Struct({
  subject: Subject,
  email: Schema.String,
  displayName: Schema.NullOr(Schema.String),
  status: Schema.String
})
export const OperatorList = Schema.Array(Operator)
export type OperatorList = typeof OperatorList.Type

/**
 * Manages the operators of the installation. People with access to the data folder are operators in any case and are not
 * managed here. Changes record an audit event `operator.command`.
 */
export class GrantCommands extends Context.Service<
  GrantCommands,
  {
    readonly list: Effect.Effect<OperatorList>
    /** Makes an account an operator. `account` is a subject or an email address. Fails with `not_found`. */
    readonly grant: (account: string) => Effect.Effect<OperatorList, ApiError>
    /** Revokes an account's operator role, effective from the next request. Fails with `not_found`. */
    readonly revoke: (account: string) => Effect.Effect<OperatorList, ApiError>
  }
>()("svc/src/operator/GrantCommands") {
  static readonly layer = Layer.effect(
    GrantCommands,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const operators = yield* Operators
      const users = yield* Users
      const audit = yield* Audit
      const random = yield* SecureRandom.SecureRandom

      const list = Effect.map(operators.list, (rows) =>
        rows.map(({ display_name, email, status, subject }) => ({ subject, email, displayName: display_name, status }))
      )

      const accountOf = Effect.fnUntraced(function* (account: string) {
        const found = yield* account.includes("@") ? users.findByEmail(account) : users.find(account)
        if (Option.isSome(found)) return found.value
        return yield* new ApiError({ code: "not_found", message: `There is no account ${account}.` })
      })

      const decided = Effect.fnUntraced(function* (
        word: "grant" | "revoke",
        account: string,
        decide: (user: User) => Effect.Effect<void, ApiError>
      ) {
        const requestId = yield* newId(Schema.String, "op").pipe(
          Effect.provideService(SecureRandom.SecureRandom, random)
        )
        const user = yield* Effect.gen(function* () {
          const found = yield* accountOf(account)
          yield* decide(found)
          yield* audit.append({
            workspaceId: null,
            actor: serviceContext.actor,
            action: "operator.command",
            target: { kind: "user", id: found.subject },
            data: { command: `admin operators ${word}` },
            requestId
          })
          return found
        }).pipe(transaction(sql))
        yield* Effect.logInfo(`Done for an operator: svc admin operators ${word}, user ${user.subject}`)
        return yield* list
      })

      return GrantCommands.of({
        list,
        grant: Effect.fn("GrantCommands.grant")((account) =>
          decided("grant", account, ({ subject }) => operators.grant(subject))
        ),
        revoke: Effect.fn("GrantCommands.revoke")((account) =>
          decided("revoke", account, ({ subject }) => operators.revoke(subject))
        )
      })
    })
  )
}
