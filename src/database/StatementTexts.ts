import type { Statement } from "effect/sql"
import { hasProperty } from "effect/Predicate"

/** Several times what all statements of the service consist of: only text that is built from data reaches it. */
const partLimit = 65_536

/** What can follow in a statement, besides a piece of text or the name of a column: numbers, which no text equals. */
const parameter = 0
const identifier = 1
const insert = 2
const update = 3
/** After the last column of an insert or update. */
const end = 4

/** The beginning of some statements: the text of the one that ends here, and what follows in the others. */
class Beginning {
  text: string | undefined
  // Most beginnings continue in one way, and a map of one takes more memory than all else here.
  private firstPart: string | number | undefined
  private first: Beginning | undefined
  private others: Map<string | number, Beginning> | undefined
  private readonly count: { parts: number }

  constructor(count: { parts: number }) {
    this.count = count
    count.parts += 1
  }

  followedBy(part: string | number): Beginning {
    const known = part === this.firstPart ? this.first : this.others?.get(part)
    if (known !== undefined) return known
    const added = new Beginning(this.count)
    if (this.first === undefined) {
      this.firstPart = part
      this.first = added
    } else {
      this.others ??= new Map()
      this.others.set(part, added)
    }
    return added
  }
}

/** Whether this value of a column is bound as it is. */
const isPlain = (value: unknown) => typeof value !== "object" || value === null || value instanceof Uint8Array

/** Follows the columns of an insert or update; `undefined` if one of them holds a fragment of SQL. */
const bindColumns = (
  from: Beginning,
  columns: Readonly<Record<string, unknown>>,
  bindings: Array<unknown>
): Beginning | undefined => {
  let at = from
  for (const name of Object.keys(columns)) {
    const value = columns[name]
    if (!isPlain(value)) return undefined
    at = at.followedBy(name)
    bindings.push(value === undefined ? null : value)
  }
  return at.followedBy(end)
}

/** Whether it ends in a `RETURNING` of its own, which is not a declared property. */
const isReturning = (helper: Statement.RecordInsertHelper | Statement.RecordUpdateHelperSingle) =>
  hasProperty(helper, "returningIdentifier") && helper.returningIdentifier !== undefined

/** Follows one segment and collects its values; `undefined` if it is of a kind whose text is not remembered. */
const follow = (from: Beginning, segment: Statement.Segment, bindings: Array<unknown>): Beginning | undefined => {
  switch (segment._tag) {
    case "Literal":
      return segment.params === undefined ? from.followedBy(segment.value) : undefined
    case "Parameter":
      bindings.push(segment.value)
      return from.followedBy(parameter)
    case "Identifier":
      return from.followedBy(identifier).followedBy(segment.value)
    case "RecordInsertHelper":
      if (segment.value.length > 1 || isReturning(segment)) return undefined
      return bindColumns(from.followedBy(insert), segment.value[0], bindings)
    case "RecordUpdateHelperSingle":
      if (segment.omit.length > 0 || isReturning(segment)) return undefined
      return bindColumns(from.followedBy(update), segment.value, bindings)
    default:
      return undefined
  }
}

/**
 * A compiler that writes the text of each statement once. Each execution is a new statement, but its segments determine its text,
 * and the connection finds a prepared statement faster by the same string. Statements whose text depends on their values, such as
 * lists, are compiled each time. Beyond `mostParts`, everything is forgotten.
 *
 * The given compiler must not rename columns, and its placeholders must not depend on their position or value.
 */
export const withRememberedTexts = (compiler: Statement.Compiler, mostParts = partLimit): Statement.Compiler => {
  const count = { parts: 0 }
  let root = new Beginning(count)
  return {
    ...compiler,
    compile: (statement, withoutTransform) => {
      if (count.parts > mostParts) {
        count.parts = 0
        root = new Beginning(count)
      }
      const bindings: Array<unknown> = []
      let at = root
      for (const segment of statement.segments) {
        const next = follow(at, segment, bindings)
        if (next === undefined) return compiler.compile(statement, withoutTransform)
        at = next
      }
      at.text ??= compiler.compile(statement, withoutTransform)[0]
      return [at.text, bindings]
    },
    get withoutTransform() {
      return this
    }
  }
}
