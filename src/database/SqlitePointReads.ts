import type { SQLInputValue } from "node:sqlite"
import { Option, Result, Schema } from "effect"
import { hasProperty } from "effect/Predicate"
import type { PointRead, PointReadsShape } from "../../actors/database/PointReads.ts"
import type { SqliteConnection } from "./SqliteConnection.ts"

const placeholder = (index: number) => `\u0000${index}`

// Of each read: more than the tokens in use at a time, and nothing beside what one commit forgets.
const maxRemembered = 4096

/**
 * Point reads over one connection that is otherwise never inside a transaction, so that each sees what was committed last.
 * A damaged or busy database is the ordinary read's to report: nothing is found here.
 *
 * What may be remembered is held against SQLite's own count of commits by other connections, read in the same transaction as
 * what is not remembered. This connection only reads, so the count covers every change there is.
 */
export const sqlitePointReads = (connection: SqliteConnection): PointReadsShape => {
  let version: unknown
  let isTogether = false
  const forget: Array<() => void> = []

  const untilCommit = <A>(find: PointRead<A>): PointRead<A> => {
    const remembered = new Map<string, Option.Option<A>>()
    forget.push(() => remembered.clear())
    return (...values) => {
      if (!isTogether) return find(...values)
      const key = values.join("\u0000")
      const known = remembered.get(key)
      if (known !== undefined) return known
      const found = find(...values)
      if (Option.isSome(found)) {
        if (remembered.size >= maxRemembered) remembered.clear()
        remembered.set(key, found)
      }
      return found
    }
  }

  const readVersion = connection.point("PRAGMA data_version")
  const checkVersion = () => {
    const row = readVersion([])
    const current = hasProperty(row, "data_version") ? row.data_version : undefined
    if (current !== version || current === undefined) for (const clear of forget) clear()
    version = current
  }

  return {
    prepare: (row, build) => {
      const placeholders = Array.from({ length: build.length }, (_, index) => placeholder(index))
      const [text, parameters] = build(...placeholders).compile()
      const places = parameters.map((parameter) => placeholders.findIndex((known) => known === parameter))
      if (places.includes(-1)) throw new Error(`A point read takes its own values as parameters and no others: ${text}`)
      const read = connection.point(text)
      const decode = Schema.decodeUnknownOption(row)
      return (...values) => {
        const bindings = places.map((place): SQLInputValue => values[place] ?? null)
        const found = Result.try(() => read(bindings))
        return Result.isSuccess(found) && found.success !== undefined ? decode(found.success) : Option.none()
      }
    },
    untilCommit,
    together: (read) => {
      const found = Result.try(() =>
        connection.together(() => {
          checkVersion()
          isTogether = true
          return read()
        })
      )
      isTogether = false
      return Option.flatten(Result.getSuccess(found))
    }
  }
}
