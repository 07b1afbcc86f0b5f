import type { Statement } from "effect/sql"
import { hasProperty } from "effect/Predicate"

/**
 * Maximum number of cached texts. svc has fewer different statements than this, so only texts that are built from data can
 * exceed the limit.
 */
const mostTexts = 4096

const separator = "\u0000"

/** Returns true if this column value can be bound unchanged. */
const isPlain = (value: unknown) => typeof value !== "object" || value === null || value instanceof Uint8Array

/** Returns true if the helper contains a `RETURNING` clause. The types do not declare the property. */
const isReturning = (helper: Statement.RecordInsertHelper | Statement.RecordUpdateHelperSingle) =>
  hasProperty(helper, "returningIdentifier") && helper.returningIdentifier !== undefined

/**
 * Appends the names of the columns to a key, and binds the values of the columns. Returns `undefined` if a column contains a
 * fragment of SQL.
 */
const withColumns = (key: string, columns: Readonly<Record<string, unknown>>, bindings: Array<unknown>) => {
  let longer = key
  for (const name of Object.keys(columns)) {
    const value = columns[name]
    if (!isPlain(value)) return undefined
    longer += separator + name
    bindings.push(value === undefined ? null : value)
  }
  return longer
}

/**
 * Binds the values of a segment, and returns the text of the segment without the values. Returns `undefined` for segments of
 * a kind that is not cached.
 */
const keyOf = (segment: Statement.Segment, bindings: Array<unknown>): string | undefined => {
  switch (segment._tag) {
    case "Literal":
      return segment.params === undefined ? `text${separator}${segment.value}` : undefined
    case "Parameter":
      bindings.push(segment.value)
      return "value"
    case "Identifier":
      return `name${separator}${segment.value}`
    case "RecordInsertHelper":
      if (segment.value.length > 1 || isReturning(segment)) return undefined
      return withColumns("insert", segment.value[0], bindings)
    case "RecordUpdateHelperSingle":
      if (segment.omit.length > 0 || isReturning(segment)) return undefined
      return withColumns("update", segment.value, bindings)
    default:
      return undefined
  }
}

/**
 * Wraps a compiler so that it generates the text of each statement once. Generating an insert of 30 columns takes several times
 * as long as looking up its text. Statements whose text depends on their values, such as lists, are compiled each time. The given
 * compiler must not rename columns, and its placeholders must not depend on their position or value.
 */
export const withRememberedTexts = (compiler: Statement.Compiler, most = mostTexts): Statement.Compiler => {
  const texts = new Map<string, string>()
  return {
    ...compiler,
    compile: (statement, withoutTransform) => {
      const bindings: Array<unknown> = []
      let key = ""
      for (const segment of statement.segments) {
        const part = keyOf(segment, bindings)
        if (part === undefined) return compiler.compile(statement, withoutTransform)
        // Two separators end a segment, and one separator ends a column. The key is unambiguous, because texts and names are
        // never empty.
        key += part + separator + separator
      }
      const known = texts.get(key)
      if (known !== undefined) return [known, bindings]
      const [text] = compiler.compile(statement, withoutTransform)
      if (texts.size >= most) texts.clear()
      texts.set(key, text)
      return [text, bindings]
    },
    get withoutTransform() {
      return this
    }
  }
}
