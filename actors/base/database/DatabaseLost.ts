import { Cause } from "effect"
import { hasProperty, isString } from "effect/Predicate"

/** The client's errors if the session is gone, or if the session waited too long for a lock. */
const reasons: ReadonlySet<string> = new Set(["ConnectionError", "LockTimeoutError"])

/** PostgreSQL's class of connection failures. */
const connectionClass = /^08/

/** PostgreSQL's codes for a server that has ended the session, or that cannot write yet. */
const codes: ReadonlySet<string> = new Set([
  // The session was idle for too long inside a transaction, because this process was frozen or cut off.
  "25P03",
  // A replica that is not yet promoted.
  "25006",
  // The server has too many sessions.
  "53300",
  // An administrator or a shutdown has ended the session, another process of the server has crashed, or the server is starting.
  "57P01",
  "57P02",
  "57P03",
  "57P05"
])

// Maximum number of nested causes to search. Libraries wrap errors inside other errors, but never more deeply than this.
const mostWrappings = 8

const isOfLostDatabase = (error: object): boolean => {
  if (hasProperty(error, "_tag") && isString(error._tag) && reasons.has(error._tag)) return true
  return (
    hasProperty(error, "code") && isString(error.code) && (codes.has(error.code) || connectionClass.test(error.code))
  )
}

/**
 * Returns true if an error or one of its causes means that the database could not be reached or has ended the session. A statement
 * that was in progress may have taken effect.
 */
export const isDatabaseLost = (error: unknown): boolean => {
  let present = error
  for (let depth = 0; depth < mostWrappings && typeof present === "object" && present !== null; depth++) {
    if (isOfLostDatabase(present)) return true
    present = hasProperty(present, "reason")
      ? present.reason
      : hasProperty(present, "cause")
        ? present.cause
        : undefined
  }
  return false
}

export const hasDatabaseLost = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      (Cause.isDieReason(reason) && isDatabaseLost(reason.defect)) ||
      (Cause.isFailReason(reason) && isDatabaseLost(reason.error))
  )
