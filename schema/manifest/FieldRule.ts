import { Schema, type SchemaAST } from "effect"
import type { ManifestDiagnosticCode } from "./ManifestDiagnostic.ts"

/** A JSON Schema fragment. It may be less strict than its rule, but never stricter. */
export type JsonSchemaFragment = { readonly [keyword: string]: string | number | boolean }

/**
 * Creates a rule for one field: a filter, the diagnostic code for its failure, and its equivalent in the published JSON
 * Schema. After a failure, later rules for the field are skipped.
 */
export const fieldRule = <T>(options: {
  readonly code: ManifestDiagnosticCode
  readonly expected: string
  readonly holds: (value: T) => boolean
  readonly published?: JsonSchemaFragment
}): SchemaAST.Filter<T> =>
  Schema.makeFilter<T>(
    options.holds,
    {
      expected: options.expected,
      diagnosticCode: options.code,
      toJsonSchema: () => [{ ...options.published }, true]
    },
    true
  )

const countCodePoints = (text: string, stopAfter: number) => {
  let count = 0
  for (const _ of text) {
    count++
    if (count > stopAfter) break
  }
  return count
}

/** Counts Unicode code points, like JSON Schema, so that authors' tools get the same result. */
export const lengthBetween = (minimum: number, maximum: number) =>
  fieldRule<string>({
    code: "invalid_length",
    expected: `${minimum} to ${maximum} characters`,
    holds: (text) => {
      if (text.length > maximum * 2) return false
      const count = countCodePoints(text, maximum)
      return count >= minimum && count <= maximum
    },
    published: { minLength: minimum, maxLength: maximum }
  })

export const matches = (pattern: RegExp) =>
  fieldRule<string>({
    code: "invalid_pattern",
    expected: `a string that matches ${pattern.source}`,
    holds: (text) => pattern.test(text),
    published: { pattern: pattern.source }
  })

export const itemsBetween = (minimum: number, maximum: number) =>
  fieldRule<ReadonlyArray<unknown>>({
    code: "invalid_count",
    expected: minimum === 0 ? `at most ${maximum} entries` : `${minimum} to ${maximum} entries`,
    holds: (items) => items.length >= minimum && items.length <= maximum,
    published: { minItems: minimum, maxItems: maximum }
  })

export const propertiesBetween = (minimum: number, maximum: number) =>
  fieldRule<object>({
    code: "invalid_count",
    expected: `${minimum} to ${maximum} entries`,
    holds: (value) => {
      const count = Object.keys(value).length
      return count >= minimum && count <= maximum
    },
    published: { minProperties: minimum, maxProperties: maximum }
  })

/** Requires all entries to be different. Use it only for strings, which JSON Schema compares in the same way. */
export const uniqueStrings = fieldRule<ReadonlyArray<string>>({
  code: "not_unique",
  expected: "entries that are all different",
  holds: (items) => new Set(items).size === items.length,
  published: { uniqueItems: true }
})
