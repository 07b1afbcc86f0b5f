import { Option, Redacted, Schema } from "effect"
import type { Secret } from "../redaction/SecretRule.ts"
import { withNumbersAsText } from "../../schema/json/ExactNumbers.ts"
import type { ProvidedSet } from "./ProvidedCredentials.ts"

const decodeDocument = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Union([Schema.Record(Schema.String, Schema.Json), Schema.Array(Schema.Json)]))
)
const utf8 = new TextDecoder("utf-8", { fatal: true })
const decodeText = Option.liftThrowable((bytes: Uint8Array) => utf8.decode(bytes))

/** Known names of members in credential documents. Any other name may itself be secret. */
const plainName = /^[a-z][a-z_]{0,40}$/
const decimal = /^[+-]?(\d+)(\.\d+)?$/

/**
 * Returns the shortest form of a number, because a module may convert text to a number, and the tool would then write
 * `0012.50` as `12.5`.
 */
const asNumber = (text: string): ReadonlyArray<string> => {
  const [, whole, fraction = ""] = decimal.exec(text.trim()) ?? []
  if (whole === undefined) return []
  const digits = fraction.split("")
  const kept = digits.slice(0, digits.findLastIndex((digit) => digit !== "0" && digit !== ".") + 1).join("")
  const shown = `${whole.replace(/^0+(?=\d)/, "")}${kept}`
  return shown === text ? [] : [shown]
}

interface Part {
  readonly origin: string
  readonly text: string
}

/**
 * Returns the strings in a document, except those in its public members, each with the name of the innermost member that
 * contains it.
 */
const partsOf = (origin: string, text: string, open: ReadonlySet<string>): ReadonlyArray<Part> => {
  const document = /^\s*[[{]/.test(text) ? decodeDocument(withNumbersAsText(text)) : Option.none()
  if (Option.isNone(document)) return [{ origin, text }]
  const found: Array<Part> = []
  const left: Array<{ readonly origin: string; readonly value: Schema.Json }> = [{ origin, value: document.value }]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value } = next
    if (typeof value === "string") found.push({ origin: next.origin, text: value })
    else if (Array.isArray(value)) for (const member of value) left.push({ origin: next.origin, value: member })
    else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if (open.has(name)) continue
        left.push({ origin: plainName.test(name) ? `${origin} ${name}` : next.origin, value: member })
      }
    }
  }
  return found
}

/**
 * Returns the parts of this machine's credentials that a plan must not contain: everything except variables and document
 * members that the operator declared as public. If a value is public under one name and secret under another, it is secret.
 */
export const providedParts = (sets: Iterable<ProvidedSet>): ReadonlyArray<Secret> => {
  const found: Array<Secret> = []
  const add = (origin: string, text: string, open: ReadonlySet<string>) => {
    for (const part of partsOf(origin, text, open)) {
      for (const shown of [part.text, ...asNumber(part.text)]) {
        found.push({ origin: part.origin, value: Redacted.make(shown) })
      }
    }
  }
  for (const { files, publicNames = [], values } of sets) {
    const open = new Set(publicNames)
    for (const [name, value] of Object.entries(values)) {
      if (!open.has(name)) add(`env.${name}`, Redacted.value(value), open)
    }
    for (const { content, name } of files) {
      Option.match(decodeText(Redacted.value(content)), {
        onNone: () => found.push({ origin: `file.${name}`, value: content }),
        onSome: (text) => add(`file.${name}`, text, open)
      })
    }
  }
  return found
}
