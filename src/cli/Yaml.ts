import { visibleJson } from "../../schema/records/VisibleText.ts"

/** Words that must be quoted because some YAML parsers read them as a boolean, null or a number. */
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i
const plain = /^[A-Za-z](?:[A-Za-z0-9_./@-]|:(?=[A-Za-z0-9/]))*$/

const scalar = (value: unknown): string =>
  typeof value === "string" && plain.test(value) && !reserved.test(value) ? value : visibleJson(JSON.stringify(value))

const isNested = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.keys(value).length > 0

const linesOf = (value: unknown): ReadonlyArray<string> => {
  if (!isNested(value)) return [scalar(value)]
  if (Array.isArray(value)) {
    return value.flatMap((item) => linesOf(item).map((line, index) => `${index === 0 ? "- " : "  "}${line}`))
  }
  return Object.entries(value).flatMap(([key, member]) => {
    if (member === undefined) return []
    if (!isNested(member)) return [`${scalar(key)}: ${scalar(member)}`]
    const indent = Array.isArray(member) ? "" : "  "
    return [`${scalar(key)}:`, ...linesOf(member).map((line) => `${indent}${line}`)]
  })
}

/** Formats a JSON value as YAML. Quotes any text that a parser could misread. */
export const yamlText = (value: unknown): string => linesOf(value).join("\n")
