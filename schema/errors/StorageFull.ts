import { Cause } from "effect"
import { hasProperty } from "effect/Predicate"

/** The error for a write that ran out of disk space. Also recorded on a Run that failed because of it. */
export const storageFull = {
  code: "storage_full",
  message:
    "The server's disk is full: nothing of this was saved. Reading goes on. Have the operator make room while the server runs, then try again: a state that a running apply cannot write is only in the memory of the server until there is room."
} as const

// SQLite error codes for a full disk: SQLITE_FULL, and SQLITE_IOERR_SHMSIZE, which means that the index of the write-ahead
// log could not grow.
const sqliteCodes: ReadonlySet<unknown> = new Set([13, 4874])
const systemCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"])

// Maximum number of nested causes to search. Libraries wrap errors inside other errors, but never more deeply than this.
const mostWrappings = 8

/** Printed if a program exits because it cannot write the files that it needs to start. */
export const storageFullAtStart =
  "The disk is full, and svc writes to its data folder before it serves anything. Make room there, then start again; `svc doctor` reports how much is free."

/** Returns true if an error or one of its causes means that the disk is full. */
export const isStorageFull = (error: unknown): boolean => {
  let pending: ReadonlyArray<unknown> = [error]
  for (let depth = 0; depth < mostWrappings && pending.length > 0; depth++) {
    for (const one of pending) {
      if (hasProperty(one, "errcode") && sqliteCodes.has(one.errcode)) return true
      if (hasProperty(one, "code") && systemCodes.has(one.code)) return true
    }
    pending = pending.flatMap((one) => [
      ...(hasProperty(one, "reason") ? [one.reason] : []),
      ...(hasProperty(one, "cause") ? [one.cause] : [])
    ])
  }
  return false
}

export const hasStorageFull = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      (Cause.isDieReason(reason) && isStorageFull(reason.defect)) ||
      (Cause.isFailReason(reason) && isStorageFull(reason.error))
  )
