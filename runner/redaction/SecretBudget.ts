import { Buffer } from "node:buffer"
import { Redacted } from "effect"
import type { Secret } from "./SecretRule.ts"

/**
 * Limits for the secrets of one Run: their total size in bytes (documents count twice, because svc also searches for their
 * parts), and their number (each line, member and element of a document counts).
 */
export const secretBudget = { bytes: 1024 * 1024, texts: 16_384 } as const

const overBytes = `hold more than ${secretBudget.bytes} bytes of secrets (a document counts twice), and a Run can hide no more`
const overTexts = `hold more than ${secretBudget.texts} secret texts (a document counts each line, member and element), and a Run can hide no more`

/** Matches the separators to count. The parts are counted without parsing, because a request waits for the count. */
const separator = /[\n,;]/g

/**
 * Returns the reason why the secrets exceed the limits of a Run, or `undefined`. Counts duplicates once, because an apply
 * receives the secrets of its plan again, as well as secrets that the plan recorded.
 */
export const budgetProblem = (secrets: Iterable<Secret>): string | undefined => {
  let bytes = 0
  let texts = 0
  const counted = new Set<string>()
  for (const secret of secrets) {
    const value = Redacted.value(secret.value)
    const text = (typeof value === "string" ? value : Buffer.from(value).toString("latin1")).trim()
    if (counted.has(text)) continue
    counted.add(text)
    const parts = text.match(separator)?.length ?? 0
    bytes += (typeof value === "string" ? Buffer.byteLength(text) : value.byteLength) * (parts > 0 ? 2 : 1)
    texts += 1 + parts
    if (bytes > secretBudget.bytes) return overBytes
    if (texts > secretBudget.texts) return overTexts
  }
  return undefined
}
