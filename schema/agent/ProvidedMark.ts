import { Schema } from "effect"
import { ProvidedName } from "./ProvidedName.ts"

/**
 * A slow digest of a set of credentials that agents provide. Agents of the same pool that have the same credentials report
 * the same digest; replacing the credentials changes the digest. The digest reveals nothing else about the credentials.
 */
export const ProvidedMarkText = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{43}$/, { description: "32 bytes in base64url" })
)

export const ProvidedMark = Schema.Struct({ name: ProvidedName, mark: ProvidedMarkText })
export type ProvidedMark = typeof ProvidedMark.Type
