import { Schema } from "effect"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Keys that sign tokens; `private_jwk` is sealed. */
export const SigningKeyRow = table("oidc_signing_keys", {
  kid: Schema.String,
  algorithm: Schema.Literals(["RS256", "ES256"]),
  status: Schema.Literals(["next", "active", "retired", "revoked"]),
  public_jwk: Schema.String,
  private_jwk: Schema.String,
  published_at: Timestamp,
  activated_at: Schema.NullOr(Timestamp),
  retired_at: Schema.NullOr(Timestamp)
})
export type SigningKeyRow = RowOf<typeof SigningKeyRow.columns>
