import type { Schema } from "effect"
import * as Redacted from "effect/Redacted"
import type { SecretText } from "./SecretText.ts"

/** Text that must never be shown, with the public name of its origin. */
export interface Secret {
  readonly origin: string
  readonly value: Redacted.Redacted<string | Uint8Array>
}

/**
 * Version of the rules. Increment it whenever the rules hide more than before, because plans reviewed under an earlier
 * version must then be reviewed again.
 */
export const secretRuleVersion = 2

/** Secrets of at least this length are hidden everywhere, and shorter secrets only as complete tokens. */
export const shortestAnywhere = 6
/** Minimum length of a secret. Shorter texts cannot be distinguished from ordinary text. */
export const shortestToken = 2

const ordinaryWords: ReadonlySet<string> = new Set(["true", "false", "null"])

/** Where a secret is hidden: everywhere, only where it is a complete token, or nowhere. */
export type SecretScope = "anywhere" | "token" | "none"

export const scopeOf = (text: string): SecretScope => {
  const shown = text.trim()
  if (shown.length < shortestToken || ordinaryWords.has(shown.toLowerCase())) return "none"
  return shown.length < shortestAnywhere ? "token" : "anywhere"
}

/**
 * Returns the attribute names in a type constraint, at any depth. These names are part of the module, so they are not
 * secret.
 */
export const declaredKeys = (typeExpression: string): ReadonlySet<string> =>
  new Set(
    [...typeExpression.matchAll(/[A-Za-z_][\w-]*|[^\s"]/g)]
      .map(([token]) => token)
      .filter((token, at, tokens) => tokens[at + 1] === "=" && /^[A-Za-z_]/.test(token))
  )

/** Returns all strings and numbers that a value contains. */
export const leafTexts = (root: unknown): ReadonlyArray<string> => {
  const found: Array<string> = []
  const open: Array<unknown> = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string" || typeof next === "number") found.push(String(next))
    else if (typeof next === "object" && next !== null) for (const member of Object.values(next)) open.push(member)
  }
  return found
}

interface Open {
  readonly value: Schema.Json
  readonly origin: string
}

/**
 * Returns the secret parts of a value: every string and number in it, and every key of at least 6 characters that the variable's
 * type does not declare. An undeclared key is part of the secret value, so an origin never contains it.
 */
export const valueSecrets = (
  origin: string,
  root: Schema.Json,
  declared: ReadonlySet<string> = new Set()
): ReadonlyArray<SecretText> => {
  const found: Array<SecretText> = []
  const open: Array<Open> = [{ value: root, origin }]
  let keys = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { origin: path, value } = next
    if (typeof value === "string" || typeof value === "number") {
      found.push({ origin: path, value: Redacted.make(String(value)) })
    } else if (Array.isArray(value)) {
      for (const [index, member] of value.entries()) open.push({ value: member, origin: `${path}.${index}` })
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        const isDeclared = declared.has(key)
        if (!isDeclared) keys++
        if (!isDeclared && key.length >= shortestAnywhere) {
          found.push({ origin: `${origin} key ${keys}`, value: Redacted.make(key) })
        }
        open.push({ value: member, origin: `${path}.${isDeclared ? key : "*"}` })
      }
    }
  }
  return found
}

/** Returns the reason why a secret text cannot be hidden, or `undefined` if it can be hidden or is not a secret. */
export const hidingProblem = (text: string): string | undefined => {
  const shown = text.trim()
  if (ordinaryWords.has(shown.toLowerCase())) return undefined
  if (shown.length === 0) return "is blank, so it could not be hidden in logs and plans"
  if (shown.length < shortestToken) {
    return `has a single character, too short to be hidden in logs and plans; a secret needs at least ${shortestToken}`
  }
  return /^["$%'\\`\s+]+$/.test(shown)
    ? "holds nothing but blanks and quoting characters, so it could not be hidden in logs and plans"
    : undefined
}
