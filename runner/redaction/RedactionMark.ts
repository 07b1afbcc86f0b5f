import type { Schema } from "effect"

/** What stands in the place of a secret in logs, events, diagnostics and plans. */
export const redactionMark = "[redacted]"

/**
 * True for text that holds the mark: it was copied out of redacted output, so as an input it would overwrite a real
 * value. Inputs that hold it are refused.
 */
export const isRedactionSentinel = (value: string): boolean => value.toLowerCase().includes(redactionMark)

/** The same for a whole JSON value: any string or key of it. */
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
