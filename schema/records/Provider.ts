import { Schema } from "effect"
import { GrantedUse } from "./ConnectionUse.ts"
import { ConnectionId } from "./Ids.ts"
import { GivenProviderAddress } from "./ProviderAddress.ts"

/** A provider requirement of the root module. A binding must match its provider, local name and alias. */
export class ProviderRequirement extends Schema.Opaque<ProviderRequirement>()(
  Schema.Struct({
    provider: Schema.String,
    moduleLocalName: Schema.String,
    childAlias: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "ProviderRequirement" })
) {}

export class ProviderPackage extends Schema.Opaque<ProviderPackage>()(
  Schema.Struct({
    source: Schema.String,
    versionConstraints: Schema.Array(Schema.String)
  }).annotate({ identifier: "ProviderPackage" })
) {}

export class ProviderBinding extends Schema.Opaque<ProviderBinding>()(
  Schema.Struct({
    provider: GivenProviderAddress,
    moduleLocalName: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128)),
    childAlias: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))),
    connectionId: ConnectionId
  }).annotate({ identifier: "ProviderBinding" })
) {}

/** The key that matches a requirement to its binding. */
export const requirementKey = (tuple: {
  readonly provider: string
  readonly moduleLocalName: string
  readonly childAlias?: string | undefined
}): string => JSON.stringify([tuple.provider, tuple.moduleLocalName, tuple.childAlias ?? null])

/**
 * Part of a Run's evidence: the Connection that satisfied a requirement, without the Connection's values (specification,
 * Named states).
 */
export class ProviderResolution extends Schema.Opaque<ProviderResolution>()(
  Schema.Struct({
    provider: Schema.String,
    moduleLocalName: Schema.String,
    childAlias: Schema.optionalKey(Schema.String),
    status: Schema.Literals(["resolved_provider_connection", "blocked_missing_connection", "blocked_policy"]),
    connectionId: Schema.optionalKey(ConnectionId),
    blockedReason: Schema.optionalKey(Schema.String),
    /** The rule that allows the use of the Connection, and the person whose authority is used. */
    use: Schema.optionalKey(GrantedUse),
    envNames: Schema.Array(Schema.String)
  }).annotate({ identifier: "ProviderResolution" })
) {}
