import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { awaitsReview, pendingReview } from "../../../actors/restore/RestoreReview.ts"
import type { Keyring } from "../../../actors/vault/MasterKey.ts"
import { integrityFaults } from "../../../actors/vault/SealedPlaces.ts"
import { vanishedMessage } from "../../database/FirstStart.ts"
import { readInstallation, readInstance } from "../../database/Installation.ts"
import { lookAtRemains } from "../../database/InstallationRemains.ts"
import type { Finding } from "./DoctorReport.ts"

const mostFaults = 5

/** A folder without a database: a new one, or one that has lost it. `undefined` where there is a database. */
export const missingDatabaseFinding = Effect.fn("missingDatabaseFinding")(function* (
  folder: string,
  isServed: boolean,
  exists: boolean
): Effect.fn.Return<Finding | undefined, never, Effect.Services<ReturnType<typeof lookAtRemains>>> {
  if (isServed) {
    return exists
      ? undefined
      : {
          check: "database",
          status: "error",
          message: "A server is running on this folder, and its database file is gone: what it writes is lost.",
          remedy: "Stop the server, put svc.sqlite back or restore a backup, and start again."
        }
  }
  const { database, found } = yield* lookAtRemains(folder, { readOnly: true })
  if (database === "installed") return undefined
  return found.length === 0
    ? { check: "database", status: "ok", message: "There is no database yet; the first start creates it." }
    : { check: "database", status: "error", message: vanishedMessage(folder, found) }
})

/** Whether folder, database and settings belong to one installation. */
export const installationFinding = Effect.fn("installationFinding")(function* (
  folder: string,
  expected: string | undefined
) {
  const instance = yield* Effect.result(readInstance(folder))
  const inside = yield* readInstallation
  const error = (message: string, remedy: string): Finding => ({
    check: "installation",
    status: "error",
    message,
    remedy
  })
  if (Result.isFailure(instance)) return error(instance.failure.message, "See docs/operations.md, Restore.")
  if (inside === undefined) {
    const finding: Finding = {
      check: "installation",
      status: "ok",
      message: "The database is of an earlier release; the next start names the installation."
    }
    return finding
  }
  if (expected !== undefined && expected !== inside.id) {
    return error(`SVC_INSTALLATION names ${expected}, and this is ${inside.id}.`, "Is the right disk mounted?")
  }
  if (typeof instance.success !== "string" && instance.success.installationId !== inside.id) {
    return error(
      `The folder belongs to ${instance.success.installationId}, and its database to ${inside.id}.`,
      "Put the right database back, or move instance.json away where this is the right one."
    )
  }
  const restored = inside.restoredAt === null ? "" : `, restored from a backup at ${inside.restoredAt}`
  const finding: Finding = {
    check: "installation",
    status: "ok",
    message: `${inside.id}, created at ${inside.createdAt}${restored}`
  }
  return finding
})

/** What a restore brought back unconfirmed; no finding when nothing waits. */
export const restoreFinding = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const known = yield* sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'restore_review'`
  if (known.length === 0 || !(yield* awaitsReview(sql))) return []
  const waiting = yield* pendingReview
  const finding: Finding = {
    check: "restore",
    status: "warning",
    message: `${waiting.length} memberships, Connections and shares that the restore brought back have no effect yet.`,
    remedy: "Look at them with `svc admin restore-review`, and confirm or remove them."
  }
  return [finding]
})

/** Whether every sealed value opens in its place. */
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
