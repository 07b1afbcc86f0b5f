import { Option, Schema } from "effect"
import { storedJson, storedText } from "./StoredRecord.ts"

/** A text column that holds JSON. Rows keep the text: `read` and `write` are its only codec. */
export interface JsonText<A> extends Schema.Codec<string> {
  readonly read: (text: string) => A
  /** The raw content, for a record that is decoded as a whole. */
  readonly parse: (text: string) => unknown
  readonly write: (value: A) => string
}

const parseJson = storedJson(Schema.Unknown)

/**
 * A column that holds JSON as text. Where rows are checked against their model, the text is decoded too.
 *
 * @example
 * const LabelsJson = jsonText(Schema.Array(Schema.String))
 * const Labelled = rowShape({ id: Schema.String, labels: LabelsJson })
 * const labels = LabelsJson.read(row.labels)
 */
export const jsonText = <A, I>(schema: Schema.Codec<A, I>): JsonText<A> => {
  const json = Schema.fromJsonString(schema)
  const decode = Schema.decodeUnknownOption(json)
  const column = Schema.String.check(
    Schema.makeFilter((text) => Option.isSome(decode(text)), { expected: "JSON that fits the column" })
  )
  return Object.assign(column, { read: storedJson(schema), parse: parseJson, write: storedText(schema) })
}
