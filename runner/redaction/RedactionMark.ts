import type { Schema } from "effect"

/** Replacement for a secret of unknown origin. */
export const redactionMark = "[redacted]"

const longestOrigin = 160

/** Returns the text that replaces a secret, such as `[redacted var.db.password]`. An origin consists only of public names. */
export const redactionMarkOf = (origin: string): string => {
  const shown = origin.replace(/[[\]\p{Cc}]/gu, "").slice(0, longestOrigin)
  return shown === "" ? redactionMark : `[redacted ${shown}]`
}

const sentinel = /\[redacted(?: [^[\]\r\n]{1,400})?\]/i

/**
 * Returns true for text that contains a mark, with or without an origin. Such text was copied from redacted output. Used as
 * an input, it would overwrite a real value, so callers refuse it.
 */
export const isRedactionSentinel = (value: string): boolean => sentinel.test(value)

/** Like `isRedactionSentinel`, but checks all strings and keys in a JSON value. */
export const holdsRedactionSentinel = (value: Schema.Json): boolean => {
  const open: Array<Schema.Json> = [value]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string" && isRedactionSentinel(next)) return true
    if (typeof next !== "object" || next === null) continue
    for (const [key, member] of Object.entries(next)) {
      if (isRedactionSentinel(key)) return true
      open.push(member)
    }
  }
  return false
}
