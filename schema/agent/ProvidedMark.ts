import { Schema } from "effect"
import { ProvidedName } from "./ProvidedName.ts"

/**
 * A slow digest of one set of an agent's own credentials: agents in the pool with the same credentials have the same digest, and
 * replaced credentials have a different one. It reveals nothing else about them.
 */
export const ProvidedMarkText = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{43}$/, { description: "32 bytes in base64url" })
)

export const ProvidedMark = Schema.Struct({ name: ProvidedName, mark: ProvidedMarkText })
export type ProvidedMark = typeof ProvidedMark.Type
