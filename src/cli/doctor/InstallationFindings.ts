import { Effect, FileSystem, Path } from "effect"
import { SqlClient } from "effect/sql"
import { awaitsReview, pendingReview } from "../../../actors/upkeep/restore/RestoreReview.ts"
import type { Keyring } from "../../../actors/base/vault/MasterKey.ts"
import { integrityFaults } from "../../../actors/base/vault/SealedPlaces.ts"
import { databaseName } from "../../database/DataFolder.ts"
import { admissionOf, installationFault } from "../../database/FirstStart.ts"
import { hasTable, readInstallation } from "../../database/Installation.ts"
import { faulty } from "./DataFindings.ts"
import type { Finding } from "./DoctorReport.ts"

const mostFaults = 5

/**
 * If a folder has no database, reports this: either the installation is new, or the database has been lost. Returns
 * `undefined` if there is a database.
 */
export const missingDatabaseFinding = Effect.fn("missingDatabaseFinding")(function* (
  folder: string,
  expected: string | undefined,
  isServed: boolean
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (isServed) {
    return (yield* files.exists(path.join(folder, databaseName)))
      ? undefined
      : faulty("database", {
          message:
            "A server is running on this folder, and its database file is missing: everything it writes is lost.",
          remedy: "Stop the server, put svc.sqlite back or restore a backup, and start again."
        })
  }
  const { fault, kind } = yield* admissionOf(folder, expected, { readOnly: true })
  if (kind === "installed") return undefined
  if (fault !== undefined) return faulty("database", fault)
  const created: Finding = {
    check: "database",
    status: "ok",
    message: "There is no database yet; the first start creates it."
  }
  return created
})

/** Checks that the folder, the database and the settings belong to the same installation. */
export const installationFinding = Effect.fn("installationFinding")(function* (
  folder: string,
  expected: string | undefined
) {
  const fault = yield* installationFault(folder, expected)
  if (fault !== undefined) return faulty("installation", fault)
  const inside = yield* readInstallation
  const restored = inside?.restoredAt == null ? "" : `, restored from a backup at ${inside.restoredAt}`
  const finding: Finding = {
    check: "installation",
    status: "ok",
    message:
      inside === undefined
        ? "The database is of an earlier release; the next start names the installation."
        : `${inside.id}, created at ${inside.createdAt}${restored}`
  }
  return finding
})

/** Reports restored records that await confirmation, if any. */
export const restoreFinding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* hasTable(sql, "restore_review")) || !(yield* awaitsReview(sql))) return []
  const waiting = yield* pendingReview
  const finding: Finding = {
    check: "restore",
    status: "warning",
    message: `${waiting.length} memberships, Connections, shares, agents and uses of pools that the restore brought back have no effect yet.`,
    remedy: "Look at them with `svc admin restore-review`, and confirm or remove them."
  }
  return [finding]
})

/** Checks that every sealed value can be decrypted in the place where it is stored. */
export const sealedFinding = Effect.fn("sealedFinding")(function* (keyring: Keyring) {
  const faults = yield* integrityFaults(keyring)
  const more = faults.length > mostFaults ? ` and ${faults.length - mostFaults} more` : ""
  const finding: Finding =
    faults.length === 0
      ? { check: "sealed", status: "ok", message: "Every sealed value opens in its place." }
      : {
          check: "sealed",
          status: "error",
          message: `Integrity fault: ${faults.slice(0, mostFaults).join(", ")}${more} does not open in its place: it was changed or moved.`,
          remedy: "Find out who can write to the database. Enter the value again, or restore a backup from before."
        }
  return finding
})
