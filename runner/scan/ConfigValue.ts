import type { Schema } from "effect"
import type { LocatedJson } from "./LocatedJson.ts"

/**
 * Value of an argument, in either syntax.
 * - `expression`: needs evaluation; `text` is the source, without the template marks if the whole value is one template; also
 *   used for an object with a computed key
 * - `plain`: a complete JSON string, which is the value of an argument that the tools do not evaluate
 */
export type ConfigValue =
  | { readonly kind: "null" }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: ReadonlyArray<ConfigValue> }
  | { readonly kind: "object"; readonly entries: ReadonlyMap<string, ConfigValue> }
  | { readonly kind: "expression"; readonly text: string; readonly plain?: string }

export type ConfigSyntax = "hcl" | "json"

/**
 * Returns the literal text of a template string, or `undefined` if it contains a template. A doubled sign before a brace is
 * literal.
 */
const literalText = (template: string): string | undefined => {
  if (!template.includes("{")) return template
  let literal = ""
  for (let at = 0; at < template.length; at++) {
    const sign = template[at]
    if (sign === "$" || sign === "%") {
      if (template[at + 1] === "{") return undefined
      if (template[at + 1] === sign && template[at + 2] === "{") {
        literal += `${sign}{`
        at += 2
        continue
      }
    }
    literal += sign
  }
  return literal
}

/**
 * Returns the literal text of a string. In JSON syntax, the meaning of an escaped template depends on the argument and the tool,
 * so such a string is not treated as literal.
 */
const literalOf = (text: string, syntax: ConfigSyntax): string | undefined => {
  if (syntax === "hcl") return literalText(text)
  return text.includes("${") || text.includes("%{") ? undefined : text
}

const expression = (text: string, syntax: ConfigSyntax): ConfigValue => ({
  kind: "expression",
  text: text.startsWith("${") && text.endsWith("}") ? text.slice(2, -1) : text,
  ...(syntax === "json" ? { plain: text } : {})
})

/** Converts a JSON value from the parser's output (`hcl`) or from a file in JSON syntax (`json`). */
export const configValue = (json: LocatedJson, syntax: ConfigSyntax): ConfigValue => {
  switch (json.kind) {
    case "null":
      return { kind: "null" }
    case "boolean":
      return { kind: "boolean", value: json.value }
    case "number":
      return { kind: "number", text: json.text }
    case "string": {
      const value = literalOf(json.value, syntax)
      return value === undefined ? expression(json.value, syntax) : { kind: "string", value }
    }
    case "array":
      return { kind: "array", items: json.items.map((item) => configValue(item, syntax)) }
    case "object": {
      const entries = new Map<string, ConfigValue>()
      for (const [key, value] of json.entries) {
        const name = literalOf(key, syntax)
        if (name === undefined || entries.has(name)) return { kind: "expression", text: "{…}" }
        entries.set(name, configValue(value, syntax))
      }
      return { kind: "object", entries }
    }
  }
}

const numberParts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length
  while (digits[end - 1] === "0") end--
  return digits.slice(0, end)
}

/** Returns the sign, significant digits and exponent of a number, so that equal numbers give equal results in any notation. */
const canonicalNumber = (text: string): string => {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = numberParts.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, "")
  const significant = withoutTrailingZeros(digits)
  if (significant === "") return "0"
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`
}

/**
 * Maximum length of a number to compare. Any number that a double represents exactly has fewer digits, unless it is padded with
 * zeros.
 */
const maxExactLength = 1000

/** Returns true if a number does not change when it is parsed as a double and printed again. */
const isExact = (text: string): boolean =>
  text.length <= maxExactLength && canonicalNumber(String(Number(text))) === canonicalNumber(text)

/**
 * Returns a literal value as exact JSON text and, unless a number would lose digits, also as a value. Returns `undefined` if
 * any part needs evaluation.
 */
export const literalJson = (value: ConfigValue): { readonly text: string; readonly exact: boolean } | undefined => {
  switch (value.kind) {
    case "expression":
      return undefined
    case "null":
      return { text: "null", exact: true }
    case "boolean":
      return { text: String(value.value), exact: true }
    case "number":
      return { text: value.text, exact: isExact(value.text) }
    case "string":
      return { text: JSON.stringify(value.value), exact: true }
    case "array": {
      const items: Array<string> = []
      let exact = true
      for (const item of value.items) {
        const literal = literalJson(item)
        if (literal === undefined) return undefined
        items.push(literal.text)
        exact &&= literal.exact
      }
      return { text: `[${items.join(",")}]`, exact }
    }
    case "object": {
      const entries: Array<string> = []
      let exact = true
      for (const [key, item] of value.entries) {
        const literal = literalJson(item)
        if (literal === undefined) return undefined
        entries.push(`${JSON.stringify(key)}:${literal.text}`)
        exact &&= literal.exact
      }
      return { text: `{${entries.join(",")}}`, exact }
    }
  }
}

/** Parses a literal that `literalJson` marked as exact. */
export const exactJson = (text: string): Schema.Json => {
  const value: Schema.Json = JSON.parse(text)
  return value
}
