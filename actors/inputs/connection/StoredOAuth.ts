import { Schema } from "effect"
import { ConnectionOAuth } from "../../../schema/records/Connection.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

const { accessTokenExpiresAt, grantedAt, helperId, refreshable, scopes } = ConnectionOAuth.fields

/** The public part of an authorization. */
export const StoredOAuth = Schema.Struct({
  helperId,
  scopes,
  refreshable,
  accessTokenExpiresAt,
  grantedAt,
  issuer: Schema.String,
  /** Start time of a renewal whose outcome was not recorded. The old refresh token may no longer work. */
  renewingSince: Schema.optionalKey(Timestamp)
})
export type StoredOAuth = typeof StoredOAuth.Type
