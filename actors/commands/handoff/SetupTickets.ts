import { Context, DateTime, Effect, Layer, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { retention } from "../../../schema/records/Retention.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { CapsuleId, RunId, Subject, WorkspaceId } from "../../../schema/records/Ids.ts"
import { mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** One-time tickets that start an application's setup. */
export const SetupTicketRow = table("setup_tickets", {
  secret_hash: Schema.String,
  workspace_id: WorkspaceId,
  capsule_id: CapsuleId,
  run_id: RunId,
  subject: Subject,
  product: Schema.String,
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Schema.NullOr(Timestamp)
})
type SetupTicketRow = RowOf<typeof SetupTicketRow.columns>

const lifetime = retention.setupTicket.after

/** Result of redeeming a ticket: the install and the person. */
export interface SetupTicket {
  readonly product: string
  readonly workspaceId: WorkspaceId
  readonly capsuleId: CapsuleId
  readonly runId: RunId
  readonly subject: string
}

/**
 * One-time tickets that let a product's setup flow identify the person who installed it. The database contains only their
 * digests.
 */
export class SetupTickets extends Context.Service<
  SetupTickets,
  {
    /**
     * Creates a ticket that is valid for ten minutes, in the caller's transaction. Voids an earlier unused ticket for the same
     * Run, product and person, so that a lost response does not leave a second valid ticket.
     */
    readonly mint: (ticket: SetupTicket) => Effect.Effect<Redacted.Redacted<string>>
    /** Redeems a ticket, once. Fails with `invalid_token` if the ticket is unknown, used, replaced or expired. */
    readonly redeem: (ticket: Redacted.Redacted<string>, requestId: string) => Effect.Effect<SetupTicket, ApiError>
  }
>()("svc/actors/commands/handoff/SetupTickets") {
  static readonly layer = Layer.effect(
    SetupTickets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const mint = Effect.fn("SetupTickets.mint")(function* (ticket: SetupTicket) {
        const secret = yield* mintSecret("setupTicket").pipe(withRandom)
        const at = yield* DateTime.now
        yield* sql`DELETE FROM setup_tickets WHERE expires_at < ${DateTime.formatIso(DateTime.subtractDuration(at, retention.endedSetupTicket.after))}`
        yield* sql`DELETE FROM setup_tickets WHERE run_id = ${ticket.runId} AND product = ${ticket.product}
          AND subject = ${ticket.subject} AND used_at IS NULL`
        yield* sql`INSERT INTO setup_tickets ${SetupTicketRow.values(sql, {
          secret_hash: secretHash(secret),
          workspace_id: ticket.workspaceId,
          capsule_id: ticket.capsuleId,
          run_id: ticket.runId,
          subject: ticket.subject,
          product: ticket.product,
          created_at: DateTime.formatIso(at),
          expires_at: DateTime.formatIso(DateTime.addDuration(at, lifetime))
        })}`
        return secret
      }, Effect.orDie)

      const redeem = Effect.fn("SetupTickets.redeem")(function* (secret: Redacted.Redacted<string>, requestId: string) {
        const at = DateTime.formatIso(yield* DateTime.now)
        const [row] = yield* Effect.orDie(SetupTicketRow.some(
          sql,
          "product",
          "workspace_id",
          "capsule_id",
          "run_id",
          "subject"
        )`UPDATE setup_tickets SET ${SetupTicketRow.changes(sql, { used_at: at })}
          WHERE secret_hash = ${secretHash(secret)} AND used_at IS NULL AND expires_at > ${at}
          RETURNING product, workspace_id, capsule_id, run_id, subject`)
        if (row === undefined) {
          return yield* new ApiError({
            code: "invalid_token",
            message: "The setup ticket is unknown, used or expired. Start the hand-off again from the service."
          })
        }
        yield* audit.append({
          workspaceId: row.workspace_id,
          actor: { kind: "service" },
          action: "handoff.ticket.redeem",
          target: { kind: "capsule", id: row.capsule_id },
          capsuleId: row.capsule_id,
          runId: row.run_id,
          data: { product: row.product },
          requestId
        })
        return {
          product: row.product,
          workspaceId: row.workspace_id,
          capsuleId: row.capsule_id,
          runId: row.run_id,
          subject: row.subject
        }
      }, transaction(sql))

      return SetupTickets.of({ mint, redeem })
    })
  )
}
