import { Schema, SchemaTransformation } from "effect"

const words = (minimum: number, maximum: number) => `a whole number from ${minimum} to ${maximum}`
const pattern = /^a whole number from (\d+) to (\d+)$/

/** A whole number in a query, written as plain decimal digits. Rejects `1e1`, `0x10` and `+5`. */
export const wholeNumber = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.isPattern(new RegExp(`^(?:${minimum === 0 ? "0|" : ""}[1-9][0-9]{0,${String(maximum).length - 1}})$`), {
      description: words(minimum, maximum)
    })
  ).pipe(
    Schema.decodeTo(
      Schema.Int.check(Schema.isBetween({ minimum, maximum }, { description: words(minimum, maximum) })),
      SchemaTransformation.transform({ decode: (text) => Number(text), encode: (value) => String(value) })
    )
  )

/**
 * Returns the JSON Schema of a decoded `wholeNumber`, which is recognised by its description, or `undefined` for any other
 * description.
 */
export const numberOf = (description: unknown) => {
  const found = typeof description === "string" ? pattern.exec(description) : null
  return found === null ? undefined : { type: "integer", minimum: Number(found[1]), maximum: Number(found[2]) }
}
