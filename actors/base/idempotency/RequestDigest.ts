import { createHash } from "node:crypto"
import type { Schema } from "effect"

const byCodeUnits = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : a > b ? 1 : 0)

/**
 * Formats canonical JSON (RFC 8785): keys sorted by UTF-16 code units, no whitespace, and numbers as ECMAScript prints them. Thus
 * `1`, `1.0` and `1e0` are equal, `-0` equals `0`, and strings in different Unicode normal forms differ.
 */
export const canonicalJson = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(byCodeUnits)
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`
}

/** Computes the `sha256:` digest of a normalised request, as stored in receipts. */
export const requestDigest = (request: Schema.Json): string =>
  `sha256:${createHash("sha256").update(canonicalJson(request)).digest("hex")}`
