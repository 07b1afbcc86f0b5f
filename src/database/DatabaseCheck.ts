import { Effect, FileSystem, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { rowShape } from "../../actors/base/database/Table.ts"
import { faultText, type StartFault } from "./StartFault.ts"

/** Raised if the contents of the database file are damaged. Nothing was changed. */
export class DatabaseDamaged extends Schema.TaggedError<DatabaseDamaged>()("DatabaseDamaged", {
  message: Schema.String
}) {}

/**
 * Maximum size of a file to check at startup, because startup waits while the check reads the whole file. Only `svc doctor`
 * checks larger files.
 */
export const largestChecked = 128 * 1024 * 1024

export const damage = (file: string, finding: string): StartFault => ({
  message: `The database ${file} is damaged (${finding}).`,
  remedy: "Keep a copy of the data folder as it is, and restore the newest backup into a new folder with `svc restore`."
})

const damaged = (file: string, finding: string) => new DatabaseDamaged({ message: faultText(damage(file, finding)) })

// Result codes SQLITE_CORRUPT and SQLITE_NOTADB. The higher bits of an error code contain only details.
const damageCodes: ReadonlySet<number> = new Set([11, 26])
const Refusal = Schema.Struct({ errno: Schema.Int, message: Schema.String })
const decodeRefusal = Schema.decodeUnknownOption(Refusal)

/** Distinguishes a damaged file from other problems, such as a lock or a full disk. */
export const namingDamage =
  (file: string) =>
  <E>(error: E | SqlError.SqlError): E | SqlError.SqlError | DatabaseDamaged => {
    if (!SqlError.isSqlError(error)) return error
    const refusal = decodeRefusal(error.reason.cause)
    return refusal._tag === "Some" && damageCodes.has(refusal.value.errno & 0xff)
      ? damaged(file, refusal.value.message)
      : error
  }

const QuickCheck = rowShape({ quick_check: Schema.String })

/** Returns a fault in the database's pages, if there is one. Skips files whose check would delay startup for too long. */
export const quickFault = Effect.fn("quickFault")(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  const sql = yield* SqlClient.SqlClient
  if ((yield* files.stat(file)).size > largestChecked) return undefined
  const findings = yield* QuickCheck.rowsOnce(sql)`PRAGMA quick_check(3)`
  const problems = findings.map(({ quick_check }) => quick_check).filter((finding) => finding !== "ok")
  return problems.length > 0 ? damage(file, problems.join("; ")) : undefined
})

/** Checks the database. Fails with `DatabaseDamaged`, so that the server does not work on inconsistent pages. */
export const checkDatabase = Effect.fn("checkDatabase")(function* (file: string) {
  const fault = yield* quickFault(file)
  if (fault !== undefined) return yield* new DatabaseDamaged({ message: faultText(fault) })
})
