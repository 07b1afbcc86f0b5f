import { Context, Effect, Layer } from "effect"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { ConnectionRow } from "./ConnectionRow.ts"

/** Renews and revokes tokens of Connections at their authorization servers. */
export class TokenRenewals extends Context.Service<
  TokenRenewals,
  {
    /**
     * Renews access tokens that expire soon, before a Run receives them. Returns the reasons why Connections cannot be used,
     * keyed by Connection id. Never call it in a transaction, because it contacts a server.
     */
    readonly renew: (connectionIds: ReadonlyArray<ConnectionId>) => Effect.Effect<ReadonlyMap<string, string>>
    /** Revokes the tokens of ended Connections at their servers. Call it repeatedly until it succeeds. */
    readonly revokeEnded: Effect.Effect<void>
  }
>()("svc/actors/inputs/connection/TokenRenewals") {
  static readonly layer = Layer.effect(
    TokenRenewals,
    Effect.gen(function* () {
      const command = yield* ConnectionCommands
      const sql = yield* ReadSql
      return TokenRenewals.of({
        renew: Effect.fn("TokenRenewals.renew")(function* (connectionIds) {
          const problems = new Map<string, string>()
          for (const id of new Set(connectionIds)) {
            const made = yield* sql`SELECT id FROM connections WHERE id = ${id} AND oauth IS NOT NULL`
            if (made.length === 0) continue
            const { problem } = yield* command.RenewTokens(id)
            if (problem !== undefined) problems.set(id, problem)
          }
          return problems
        }, Effect.orDie),
        revokeEnded: Effect.gen(function* () {
          const ended = yield* ConnectionRow.some(sql, "id")`SELECT id FROM connections
            WHERE status = 'revoked' AND sealed_tokens IS NOT NULL ORDER BY id`
          // A Connection that cannot be read must not prevent the other revocations.
          yield* Effect.forEach(
            ended,
            ({ id }) =>
              Effect.catchCause(command.RevokeTokens(id), (cause) =>
                Effect.logError(`The tokens of the Connection ${id} could not be given back`, cause)
              ),
            { discard: true }
          )
        }).pipe(Effect.orDie)
      })
    })
  )
}
