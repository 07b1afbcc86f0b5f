import { Schema } from "effect"
import { ProvidedName } from "./ProvidedName.ts"

/**
 * A slow digest of one set of an agent's own credentials. All agents of a pool with the same set have the same mark, and
 * it changes when the set is replaced. It reveals nothing else.
 */
export const ProvidedMarkText = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{43}$/, { description: "32 bytes in base64url" })
)

export const ProvidedMark = Schema.Struct({ name: ProvidedName, mark: ProvidedMarkText })
export type ProvidedMark = typeof ProvidedMark.Type
