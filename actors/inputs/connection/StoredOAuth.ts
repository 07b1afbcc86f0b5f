import { Schema } from "effect"
import { ConnectionOAuth } from "../../../schema/records/Connection.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"

const { accessTokenExpiresAt, grantedAt, helperId, refreshable, scopes } = ConnectionOAuth.fields

/** The non-secret part of an authorization. */
export const StoredOAuth = Schema.Struct({
  helperId,
  scopes,
  refreshable,
  accessTokenExpiresAt,
  grantedAt,
  issuer: Schema.String,
  /** Start time of a renewal whose outcome was never recorded: it is unknown whether the old refresh token still works. */
  renewingSince: Schema.optionalKey(Timestamp)
})
export type StoredOAuth = typeof StoredOAuth.Type
