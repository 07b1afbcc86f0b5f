import { Clock, Context, DateTime, Effect, Layer, type Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { secretHash } from "../../base/credential/BearerSecret.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { mintOneTimeSecret, mintUserCode } from "./IdentitySecrets.ts"
import { devicePollSeconds, lifetimes } from "./Lifetimes.ts"
import { decodeScopes, encodeScopes } from "./Scopes.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Device authorizations. */
export const DeviceCodeRow = table("oidc_device_codes", {
  secret_hash: Schema.String,
  user_code_digest: Schema.String,
  client_id: Schema.String,
  scopes: Schema.String,
  workspace_id: Schema.NullOr(WorkspaceId),
  resource: Schema.NullOr(Schema.String),
  status: Schema.Literals(["pending", "approved", "denied", "used"]),
  grant_id: Schema.NullOr(Schema.String),
  interval_seconds: Schema.Int,
  last_polled_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  expires_at: Timestamp
})
type DeviceCodeRow = RowOf<typeof DeviceCodeRow.columns>

export interface NewDeviceRequest {
  readonly clientId: string
  readonly scopes: ReadonlyArray<string>
  readonly workspaceId: WorkspaceId | undefined
  readonly resource: string | undefined
}

/** The pending request of a device. */
export interface DeviceRequest extends NewDeviceRequest {
  readonly id: string
}

/** The response to a polling device. `used`: the device has already received its tokens. */
export type DevicePoll =
  | { readonly kind: "approved"; readonly grantId: string }
  | { readonly kind: "used"; readonly grantId: string }
  | { readonly kind: "pending" | "too_fast" | "denied" | "expired" | "unknown" }

/** The device flow (RFC 8628). Every method except `begin` works in the caller's transaction. */
export class DeviceCodes extends Context.Service<
  DeviceCodes,
  {
    readonly begin: (
      request: NewDeviceRequest
    ) => Effect.Effect<{ readonly deviceCode: Redacted.Redacted; readonly userCode: string }, SqlError>
    /** Returns the pending request for a user code in normalised form. */
    readonly waiting: (userCode: string) => Effect.Effect<DeviceRequest | undefined, SqlError>
    /** Records the decision about a pending request. Returns `false` if the request is no longer pending. */
    readonly settle: (id: string, grantId: string | undefined) => Effect.Effect<boolean, SqlError>
    /** Records a poll. Polling too quickly increases the interval. */
    readonly poll: (clientId: string, deviceCode: Redacted.Redacted) => Effect.Effect<DevicePoll, SqlError>
    readonly markUsed: (deviceCode: Redacted.Redacted) => Effect.Effect<void, SqlError>
  }
>()("svc/actors/access/issuer/DeviceCodes") {
  static readonly layer = Layer.effect(
    DeviceCodes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      // Uses a keyed digest, because a code has only 34 bits: a plain digest could be reversed by trying every code.
      const digestOf = (userCode: string) => vault.mac("oidc-user-code", userCode)

      return DeviceCodes.of({
        begin: Effect.fn("DeviceCodes.begin")(function* (request) {
          const deviceCode = yield* withRandom(mintOneTimeSecret("svcd_"))
          const userCode = yield* withRandom(mintUserCode)
          const at = yield* DateTime.now
          yield* sql`INSERT INTO oidc_device_codes ${DeviceCodeRow.values(sql, {
            secret_hash: secretHash(deviceCode),
            user_code_digest: yield* digestOf(userCode),
            client_id: request.clientId,
            scopes: encodeScopes(request.scopes),
            workspace_id: request.workspaceId ?? null,
            resource: request.resource ?? null,
            status: "pending",
            grant_id: null,
            interval_seconds: devicePollSeconds,
            last_polled_at: null,
            created_at: DateTime.formatIso(at),
            expires_at: DateTime.formatIso(DateTime.addDuration(at, lifetimes.deviceCode))
          })}`
          return { deviceCode, userCode }
        }),
        waiting: Effect.fn("DeviceCodes.waiting")(function* (userCode) {
          const [row] = yield* DeviceCodeRow.rows(sql)`SELECT * FROM oidc_device_codes
            WHERE user_code_digest = ${yield* digestOf(userCode)} AND status = 'pending' AND expires_at > ${yield* now}`
          if (row === undefined) return undefined
          return {
            id: row.secret_hash,
            clientId: row.client_id,
            scopes: decodeScopes(row.scopes),
            workspaceId: row.workspace_id ?? undefined,
            resource: row.resource ?? undefined
          }
        }),
        settle: Effect.fn("DeviceCodes.settle")(function* (id, grantId) {
          const settled = yield* sql`UPDATE oidc_device_codes
            SET status = ${grantId === undefined ? "denied" : "approved"}, grant_id = ${grantId ?? null}
            WHERE secret_hash = ${id} AND status = 'pending' AND expires_at > ${yield* now} RETURNING client_id`
          return settled.length === 1
        }),
        poll: Effect.fn("DeviceCodes.poll")(function* (clientId, deviceCode) {
          const hash = secretHash(deviceCode)
          const [row] = yield* DeviceCodeRow.rows(sql)`SELECT * FROM oidc_device_codes
            WHERE secret_hash = ${hash} AND client_id = ${clientId}`
          if (row === undefined) return { kind: "unknown" }
          if (row.status === "used" && row.grant_id !== null) return { kind: "used", grantId: row.grant_id }
          const at = yield* now
          if (row.expires_at <= at) return { kind: "expired" }
          const since =
            row.last_polled_at === null
              ? Number.POSITIVE_INFINITY
              : (yield* Clock.currentTimeMillis) - Date.parse(row.last_polled_at)
          const tooFast = since < row.interval_seconds * 1000
          yield* sql`UPDATE oidc_device_codes SET last_polled_at = ${at},
              interval_seconds = interval_seconds + ${tooFast ? devicePollSeconds : 0}
            WHERE secret_hash = ${hash}`
          if (tooFast) return { kind: "too_fast" }
          if (row.status === "approved" && row.grant_id !== null) return { kind: "approved", grantId: row.grant_id }
          return { kind: row.status === "denied" ? "denied" : "pending" }
        }),
        markUsed: Effect.fn("DeviceCodes.markUsed")(function* (deviceCode) {
          yield* sql`UPDATE oidc_device_codes SET status = 'used' WHERE secret_hash = ${secretHash(deviceCode)}`
        })
      })
    })
  )
}
