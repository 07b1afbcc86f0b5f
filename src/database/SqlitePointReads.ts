import type { SQLInputValue } from "node:sqlite"
import { Option, Result, Schema } from "effect"
import type { PointReadsShape } from "../../actors/database/PointReads.ts"
import type { SqliteConnection } from "./SqliteConnection.ts"

const placeholder = (index: number) => `\u0000${index}`

/**
 * Point reads over one connection that is otherwise never inside a transaction, so that each sees what was committed last.
 * A damaged or busy database is the ordinary read's to report: nothing is found here.
 */
export const sqlitePointReads = (connection: SqliteConnection): PointReadsShape => ({
  prepare: (row, build) => {
    const placeholders = Array.from({ length: build.length }, (_, index) => placeholder(index))
    const [text, parameters] = build(...placeholders).compile()
    const places = parameters.map((parameter) => placeholders.findIndex((known) => known === parameter))
    if (places.includes(-1)) throw new Error(`A point read takes its own values as parameters and no others: ${text}`)
    const decode = Schema.decodeUnknownOption(row)
    return (...values) => {
      const bindings = places.map((place): SQLInputValue => values[place] ?? null)
      const found = Result.try(() => connection.point(text, bindings))
      return Result.isSuccess(found) && found.success !== undefined ? decode(found.success) : Option.none()
    }
  },
  together: (read) => Option.flatten(Result.getSuccess(Result.try(() => connection.together(read))))
})
