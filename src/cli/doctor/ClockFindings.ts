import { Clock, Effect, FileSystem, Option, Path } from "effect"
import { newestEventTime } from "../../../actors/base/audit/AuditChainRow.ts"
import { databaseName } from "../../database/DataFolder.ts"
import { lookAtInstance } from "../../database/InstanceLock.ts"
import { withReadOnlyDatabase } from "../../database/ReadOnlyDatabase.ts"
import type { Finding } from "./DoctorReport.ts"

// A time before the first release. A clock that shows an earlier time is wrong.
const releasedAfter = Date.UTC(2026, 0, 1)
/** Tolerated clock difference. Clocks synchronised over the network differ by less, even after a move to another machine. */
const toleratedMillis = 10 * 60_000

const error = (message: string, remedy: string): Finding => ({ check: "clock", status: "error", message, remedy })

/**
 * Returns the time of the newest record, or `undefined` if there is no database or the database cannot be read. Other checks
 * report these problems.
 */
const newestRecord = Effect.fnUntraced(
  function* (folder: string) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = path.join(folder, databaseName)
    if (!(yield* files.exists(file))) return Option.none()
    const isServed = Effect.orElseSucceed(
      Effect.map(lookAtInstance(folder), ({ held }) => held),
      () => false
    )
    return yield* withReadOnlyDatabase(file, isServed, newestEventTime)
  },
  (effect) => Effect.catchCause(effect, () => Effect.succeedNone)
)

/** Checks that the clock is plausible: it must not show a time before this release or before the newest record. */
export const clockFinding = Effect.fn("clockFinding")(function* (folder: string) {
  const now = yield* Clock.currentTimeMillis
  const present = new Date(now).toISOString()
  if (now <= releasedAfter) {
    return error(
      `The clock shows ${present}, which is before this release was made.`,
      "Set the clock, e.g. with NTP: sessions, tokens and plans expire by it."
    )
  }
  const newest = yield* newestRecord(folder)
  if (Option.isSome(newest) && Date.parse(newest.value) > now + toleratedMillis) {
    return error(
      `The clock shows ${present}, but the newest audit event was written at ${newest.value}: one of the two times is wrong.`,
      "Set the clock, e.g. with NTP: sessions, tokens and plans expire by it. If it is right, it was ahead before: the next event of the installation, e.g. by `svc admin setup-link`, ends this finding."
    )
  }
  const ok: Finding = { check: "clock", status: "ok", message: present }
  return ok
})
