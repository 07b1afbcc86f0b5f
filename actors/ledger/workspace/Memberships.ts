import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"

/** The authoritative source for memberships. */
export class Memberships extends Context.Service<
  Memberships,
  {
    /**
     * Returns the role of an active membership of an active account, otherwise `none`. Fails with `verification_unavailable` if
     * the database does not respond, so that a failure is never mistaken for a missing membership.
     */
    readonly role: (subject: string, workspaceId: WorkspaceId) => Effect.Effect<Option.Option<Role>, ApiError>
  }
>()("svc/actors/ledger/workspace/Memberships") {
  static readonly layer = Layer.effect(
    Memberships,
    Effect.gen(function* () {
      const read = yield* ReadSql
      const find = SqlSchema.findAll({
        Request: Schema.Struct({ subject: Schema.String, workspaceId: WorkspaceId }),
        Result: Schema.Struct({ role: Role }),
        execute: ({ subject, workspaceId }) =>
          read`SELECT m.role FROM memberships m JOIN users u ON u.subject = m.subject
            WHERE m.workspace_id = ${workspaceId} AND m.subject = ${subject}
              AND m.status = 'active' AND u.status = 'active'`
      })
      return Memberships.of({
        role: Effect.fn("Memberships.role")(
          function* (subject, workspaceId) {
            const [row] = yield* find({ subject, workspaceId })
            return Option.map(Option.fromUndefinedOr(row), ({ role }) => role)
          },
          Effect.catchTags({
            SchemaError: Effect.die,
            SqlError: (error) =>
              Effect.andThen(
                Effect.logError("A membership could not be read", error),
                new ApiError({
                  code: "verification_unavailable",
                  message: "The membership could not be verified just now. Try again."
                })
              )
          })
        )
      })
    })
  )
}
