import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { IdempotentRequest, Replayable } from "../../../schema/commands/Command.ts"
import { transaction } from "../database/Transaction.ts"
import { now } from "../Identity.ts"
import { Vault } from "../vault/Vault.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../database/Table.ts"

/** Stored results of requests with an Idempotency-Key. */
export const ReceiptRow = table("idempotency_receipts", {
  scope: Schema.String,
  actor: Schema.String,
  route: Schema.String,
  idempotency_key: Schema.String,
  request_digest: Schema.String,
  result_id: Schema.String,
  first_status: Schema.Int,
  created_at: Timestamp
})
type ReceiptRow = RowOf<typeof ReceiptRow.columns>

/** The scope of a key. In another scope, the same key can be used for a different request. */
export interface ReceiptScope {
  /** The Workspace id, or the subject if the route has no Workspace. */
  readonly scope: string
  /** The caller's subject or token id. */
  readonly actor: string
  readonly route: string
}

/** The stored result of the first request that used the key. */
export interface Receipt {
  readonly resultId: string
  readonly firstStatus: number
}

const keyPattern = /^[A-Za-z0-9._~:-]{1,128}$/

/**
 * Parses the `Idempotency-Key` header. If the header is sent twice, both values arrive joined by a comma, which is not a
 * valid key. Fails with `idempotency_key_required` if the header is missing, and with `invalid_request` if it is not a valid
 * key.
 */
export const parseIdempotencyKey = (header: string | undefined): Effect.Effect<string, ApiError> => {
  if (header === undefined) {
    return new ApiError({
      code: "idempotency_key_required",
      message: "The Idempotency-Key header is required: 1 to 128 of A-Z a-z 0-9 . _ ~ : -"
    }).pipe(Effect.fail)
  }
  return keyPattern.test(header)
    ? Effect.succeed(header)
    : Effect.fail(invalidRequest("The Idempotency-Key header must be one value of 1 to 128 of A-Z a-z 0-9 . _ ~ : -"))
}

const StoredReceipt = Schema.Struct({
  resultId: Schema.String,
  firstStatus: Schema.Int,
  requestDigest: Schema.String
})

const conflict = () =>
  new ApiError({
    code: "idempotency_conflict",
    message: "This Idempotency-Key was used for another request. Use a new key, or repeat the first request unchanged."
  })

/**
 * Stores receipts of repeatable requests. The caller's transaction writes the receipt, so the receipt and the effect of the
 * request are committed together.
 */
export class Receipts extends Context.Service<
  Receipts,
  {
    /**
     * Returns the receipt of an identical earlier request, if any. Fails with `idempotency_conflict` if the key was used for
     * a different request.
     */
    readonly lookup: (
      scope: ReceiptScope,
      request: IdempotentRequest
    ) => Effect.Effect<Option.Option<Receipt>, ApiError>
    /** Writes a receipt. Call it in the transaction that looked up the receipt. */
    readonly record: (scope: ReceiptScope, request: IdempotentRequest, receipt: Receipt) => Effect.Effect<void>
    /**
     * Runs `create` once per key, in the transaction that writes the receipt, and `replay` for each repeated request. Of
     * concurrent requests, exactly one runs `create`.
     */
    readonly once: <A, E1, R1, E2, R2>(
      scope: ReceiptScope,
      request: IdempotentRequest,
      options: {
        readonly create: Effect.Effect<{ readonly value: A; readonly receipt: Receipt }, E1, R1>
        readonly replay: (receipt: Receipt) => Effect.Effect<A, E2, R2>
      }
    ) => Effect.Effect<Replayable<A>, Exclude<ApiError | E1 | E2 | SqlError, SqlError>, R1 | R2>
    /** Removes receipts older than `before` (ISO 8601). */
    readonly purge: (before: string) => Effect.Effect<void>
  }
>()("svc/actors/base/idempotency/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      // Uses a keyed digest, because requests may contain short private values that the thief of a disk could guess from a
      // plain digest.
      const keyed = (request: IdempotentRequest) => vault.mac("idempotency-receipt", request.requestDigest)

      const find = SqlSchema.findAll({
        Request: Schema.Struct({
          scope: Schema.String,
          actor: Schema.String,
          route: Schema.String,
          key: Schema.String
        }),
        Result: StoredReceipt,
        execute: ({ scope, actor, route, key }) =>
          sql`SELECT result_id AS "resultId", first_status AS "firstStatus", request_digest AS "requestDigest"
            FROM idempotency_receipts
            WHERE scope = ${scope} AND actor = ${actor} AND route = ${route} AND idempotency_key = ${key}`
      })

      const lookup = Effect.fn("Receipts.lookup")(function* (scope: ReceiptScope, request: IdempotentRequest) {
        const [stored] = yield* Effect.orDie(find({ ...scope, key: request.key }))
        if (stored === undefined) return Option.none<Receipt>()
        if (stored.requestDigest !== (yield* keyed(request))) return yield* conflict()
        return Option.some({ resultId: stored.resultId, firstStatus: stored.firstStatus })
      })

      const record = Effect.fn("Receipts.record")(function* (
        scope: ReceiptScope,
        request: IdempotentRequest,
        receipt: Receipt
      ) {
        yield* sql`INSERT INTO idempotency_receipts ${ReceiptRow.values(sql, {
          scope: scope.scope,
          actor: scope.actor,
          route: scope.route,
          idempotency_key: request.key,
          request_digest: yield* keyed(request),
          result_id: receipt.resultId,
          first_status: receipt.firstStatus,
          created_at: yield* now
        })}`.pipe(Effect.orDie)
      })

      return Receipts.of({
        lookup,
        record,
        once: Effect.fn("Receipts.once")(function* <A, E1, R1, E2, R2>(
          scope: ReceiptScope,
          request: IdempotentRequest,
          {
            create,
            replay
          }: {
            readonly create: Effect.Effect<{ readonly value: A; readonly receipt: Receipt }, E1, R1>
            readonly replay: (receipt: Receipt) => Effect.Effect<A, E2, R2>
          }
        ) {
          const before = yield* lookup(scope, request)
          if (Option.isSome(before)) return { value: yield* replay(before.value), replayed: true }
          const created = yield* create
          yield* record(scope, request, created.receipt)
          return { value: created.value, replayed: false }
        }, transaction(sql)),
        purge: Effect.fn("Receipts.purge")(function* (before: string) {
          yield* sql`DELETE FROM idempotency_receipts WHERE created_at < ${before}`.pipe(Effect.orDie)
        })
      })
    })
  )
}
