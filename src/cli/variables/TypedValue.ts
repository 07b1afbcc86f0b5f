import { Result, type Schema } from "effect"
import { isExactNumber } from "../../../schema/json/ExactNumbers.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"
import type { FileValue } from "./VariableFile.ts"

/** Declared type of a module's input. */
export type DeclaredType = Pick<DeclaredVariable, "type" | "typeExpression">

const numberParts = /^([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/
/** Maximum number of digits before or after the decimal point. */
const mostPlaces = 400

/** Formats a number as plain digits, in the same way as the tool. Returns `undefined` for text that is not a number. */
const plainDigits = (text: string): string | undefined => {
  const parts = numberParts.exec(text)
  if (parts === null) return undefined
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts
  const moved = Number(exponent)
  if (Math.abs(moved) > mostPlaces || whole.length + fraction.length > mostPlaces) return undefined
  const digits = `${"0".repeat(mostPlaces)}${whole}${fraction}${"0".repeat(mostPlaces)}`
  const point = mostPlaces + whole.length + moved
  const before = digits.slice(0, point).replace(/^0+(?=\d)/, "")
  let end = digits.length
  while (end > point && digits[end - 1] === "0") end--
  const after = digits.slice(point, end)
  return `${sign === "-" ? "-" : ""}${before}${after === "" ? "" : `.${after}`}`
}

const tooLong = "a number has more digits than JSON keeps; write it as a text of its digits"

/**
 * Converts a number to JSON. If JSON cannot represent the number exactly, returns the digits as text for a number input, and
 * fails for any other input.
 */
const numberOf = (text: string, isNumberInput: boolean): Result.Result<Schema.Json, string> => {
  const digits = plainDigits(text)
  if (digits === undefined) return Result.fail("a number is too large")
  if (isExactNumber(text) || isExactNumber(digits)) return Result.succeed(Number(text))
  return isNumberInput ? Result.succeed(digits) : Result.fail(tooLong)
}

const structureOf = (value: FileValue): Result.Result<Schema.Json, string> => {
  if (value === null || typeof value !== "object") return Result.succeed(value)
  if ("digits" in value) return numberOf(value.digits, false)
  if ("items" in value) return Result.all(value.items.map(structureOf))
  return Result.map(
    Result.all([...value.members].map(([key, item]) => Result.map(structureOf(item), (json) => [key, json] as const))),
    (entries) => Object.fromEntries(entries)
  )
}

/** Converts a JSON value to a file value. */
export const ofJson = (json: Schema.Json): FileValue => {
  if (typeof json === "number") return { digits: String(json) }
  if (json === null || typeof json !== "object") return json
  return Array.isArray(json)
    ? { items: json.map(ofJson) }
    : { members: new Map(Object.entries(json).map(([key, item]) => [key, ofJson(item)])) }
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false]
])

/**
 * Converts a value to the declared type in the same way as the tool. Returns values of another type unchanged, so that the
 * server refuses them.
 */
export const typedValue = (value: FileValue, declared: DeclaredType["type"]): Result.Result<Schema.Json, string> => {
  const digits = typeof value === "object" && value !== null && "digits" in value ? value.digits : undefined
  switch (declared) {
    case "string":
      if (typeof value === "boolean") return Result.succeed(String(value))
      return digits === undefined
        ? structureOf(value)
        : Result.fromNullishOr(plainDigits(digits), () => "a number is too large")
    case "number":
      if (digits !== undefined) return numberOf(digits, true)
      return typeof value === "string" && numberParts.test(value) ? numberOf(value, true) : structureOf(value)
    case "boolean":
      return structureOf(typeof value === "string" ? (truths.get(value) ?? value) : value)
    case "json":
      return structureOf(value)
  }
}

/**
 * Returns true if the tool reads a value on its command line as plain text. The tool does so for inputs of a primitive type
 * or without a declared type. The tool parses all other values in its own syntax.
 */
export const isTakenAsText = ({ type, typeExpression }: DeclaredType): boolean =>
  type !== "json" || typeExpression === undefined
