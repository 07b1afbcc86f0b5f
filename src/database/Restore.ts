import { Effect, FileSystem, Layer, Option, Path } from "effect"
import { SqlClient } from "effect/sql"
import { endCredentials } from "../../actors/access/account/EndedCredentials.ts"
import { appendAudit, appendUnlinked, type AuditEntry } from "../../actors/base/audit/AuditEntry.ts"
import { readChain } from "../../actors/base/audit/AuditChain.ts"
import { installationScope } from "../../actors/base/audit/AuditChainRow.ts"
import { readAuditKey } from "../../actors/base/audit/AuditLink.ts"
import { CapsuleLedger } from "../../actors/ledger/capsule/CapsuleLedger.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import { DatabaseFile } from "../../actors/base/database/DatabaseFile.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { forgetMails, holdEndpoints } from "../../actors/base/notice/Notices.ts"
import { endTickets } from "../../actors/commands/handoff/EndedTickets.ts"
import { now } from "../../actors/base/Identity.ts"
import { endGrants } from "../../actors/access/issuer/EndedGrants.ts"
import { endEnrolmentTokens } from "../../actors/running/agent-pool/RestoredAgents.ts"
import { holdRestored, pendingReview } from "../../actors/upkeep/restore/RestoreReview.ts"
import { endInvitations } from "../../actors/access/member/InvitationRow.ts"
import { KillPoint } from "../../actors/base/KillPoint.ts"
import { endCarriedPlans } from "../../actors/running/agent/InlineBlobs.ts"
import { fenceRestored } from "../../actors/running/execution/RestoreFence.ts"
import { RunJournal } from "../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../actors/ledger/run/RunLifecycle.ts"
import { syncFile } from "./Backup.ts"
import { BackupRefused } from "./BackupRefused.ts"
import { placeFiles, unpackFiles } from "./BackupFiles.ts"
import type { BackupManifest } from "./BackupManifest.ts"
import { checkSeal, type MasterKeys } from "./BackupSeal.ts"
import { databaseName, prepareDataFolder } from "./DataFolder.ts"
import { settleInstallation } from "./FirstStart.ts"
import { readInstallation, readInstance } from "./Installation.ts"
import { inspectPartialInstallation, restoringFilesName, restoringName, setAside } from "./PartialInstallation.ts"
import { instanceLock } from "./InstanceLock.ts"
import { migrate } from "./Migrations.ts"
import { readMark, removeMark } from "./move/MoveMarks.ts"
import { layerWriter } from "./SqliteClient.ts"
import { InstallationRow } from "./InstallationRow.ts"

export interface RestoreOptions {
  /** Master keys of the restored installation. */
  readonly keys: MasterKeys
  /** If true, accepts a file even if there is no proof that svc wrote it. */
  readonly acceptUnauthenticated: boolean
}

const ledgers = RunLedger.layer.pipe(
  Layer.provideMerge(RunLifecycle.layer),
  Layer.provide(RunJournal.layer),
  Layer.merge(CapsuleLedger.layer)
)

/**
 * Appends the restore event to the audit chain of the installation. If the chains have not begun, the first startup adds the
 * event. Without a master key, which is possible only for an unauthenticated backup, the event is not in any chain, and the
 * check of the chains reports it.
 */
const record = Effect.fnUntraced(function* (keys: MasterKeys, entry: AuditEntry) {
  const chain = yield* readChain(installationScope)
  const key =
    chain === undefined || chain.chains === null
      ? Option.none()
      : yield* Effect.option(Effect.flatMap(keys, readAuditKey))
  yield* Option.match(key, { onNone: () => appendUnlinked(entry), onSome: (key) => appendAudit(key, entry) })
})

/**
 * Invalidates, in one transaction, everything that may have changed after the backup was written: plans and applies, every
 * credential, and all access that may have been revoked since.
 */
const takeBack = Effect.fn("takeBack")(function* (manifest: Option.Option<BackupManifest>, keys: MasterKeys) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.gen(function* () {
    yield* holdEndpoints
    const fence = yield* fenceRestored
    const credentials = yield* endCredentials
    const grants = yield* endGrants
    const enrolmentTokens = yield* endEnrolmentTokens
    yield* endCarriedPlans
    yield* endTickets
    yield* endInvitations
    yield* holdRestored
    yield* forgetMails
    yield* sql`UPDATE installation SET ${InstallationRow.changes(sql, { restored_at: yield* now })}`
    const review = yield* pendingReview
    const ended = { ...fence, ...credentials, grants, enrolmentTokens }
    const installation = yield* readInstallation
    yield* record(keys, {
      workspaceId: null,
      actor: serviceContext.actor,
      action: "installation.restore",
      target: { kind: "installation", id: installation?.id ?? "unknown" },
      data: {
        ...ended,
        authenticated: Option.isSome(manifest),
        backupCreatedAt: Option.getOrNull(Option.map(manifest, ({ createdAt }) => createdAt)),
        unconfirmed: review.length
      }
    })
    return { ended, review }
  }).pipe(transaction(sql))
})

/** Fails if the folder belongs to an installation other than the backup's. */
const checkOwner = Effect.fnUntraced(function* (folder: string) {
  const instance = yield* readInstance(folder)
  const inside = yield* readInstallation
  if (typeof instance === "string" || inside === undefined || inside.id === instance.installationId) return
  return yield* new BackupRefused({
    message: `The backup is of the installation ${inside.id}, and ${folder} belongs to ${instance.installationId}. Restore into an empty folder.`
  })
})

const prepare = (file: string, folder: string, manifest: Option.Option<BackupManifest>, keys: MasterKeys) =>
  Effect.gen(function* () {
    const databaseFile = yield* DatabaseFile
    const sql = yield* SqlClient.SqlClient
    const known = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'svc_migrations'`
    if (known.length === 0)
      return yield* new BackupRefused({ message: "The file is a database, but not a backup of svc." })
    const problems = yield* databaseFile.integrityCheck
    if (problems.length > 0) {
      return yield* new BackupRefused({ message: `The file is damaged: ${problems.slice(0, 3).join("; ")}` })
    }
    // If the database was moved after the backup, the backup is an older copy. The steps below invalidate all uncertain data
    // in the copy.
    if ((yield* readMark)?.state === "moved") yield* removeMark
    yield* migrate
    yield* checkOwner(folder)
    const taken = yield* takeBack(manifest, keys)
    yield* databaseFile.checkpoint
    return taken
  }).pipe(Effect.provide(Layer.provideMerge(ledgers, layerWriter(file)), { local: true }))

const databaseHead = "SQLite format 3\0"

/** Refuses a file that is not a database before the data folder is created. */
const requireDatabase = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(file))) return yield* new BackupRefused({ message: `There is no file ${file}.` })
  const head = yield* Effect.scoped(
    Effect.flatMap(fs.open(file, { flag: "r" }), (handle) => handle.readAlloc(databaseHead.length))
  )
  const text = Option.match(head, { onNone: () => "", onSome: (bytes) => new TextDecoder("latin1").decode(bytes) })
  if (text !== databaseHead) {
    return yield* new BackupRefused({ message: `${file} is no database, so it is no backup of svc.` })
  }
})

const unauthenticated = (file: string) =>
  new BackupRefused({
    message: `${file} is not authenticated: it was written by an older release, or its end was cut off. Anybody who could write to it may have changed it, e.g. made themselves an owner, put other values into Connections, or taken entries out of the history. Restore an authenticated backup; or, if you know that only you could write to this one, repeat the command with --accept-unauthenticated. Nothing was restored.`
  })

/** Authenticates the copy that will be used, and moves its files to `unpacked`, so that only the database remains. */
const authenticate = Effect.fn("authenticateBackup")(function* (
  copy: string,
  file: string,
  unpacked: string,
  { acceptUnauthenticated, keys }: RestoreOptions
) {
  const fs = yield* FileSystem.FileSystem
  const manifest = yield* checkSeal(copy, keys)
  if (Option.isNone(manifest) && !acceptUnauthenticated) return yield* unauthenticated(file)
  if (Option.isSome(manifest)) {
    yield* unpackFiles(copy, manifest.value, unpacked)
    yield* fs.truncate(copy, manifest.value.databaseBytes)
  }
  return manifest
})

/**
 * Restores a backup into a data folder without a database. The copy is authenticated, checked, migrated to this release's schema,
 * and stripped of all data that cannot be trusted (`takeBack`). Only then is the copy moved into place. If the process is
 * killed at any point, the folder contains either no database or the complete database. A refused file leaves the folder
 * unchanged. The operator has to put the master key into the folder first.
 */
export const restoreFrom = Effect.fn("restoreFrom")(
  function* (file: string, folder: string, options: RestoreOptions) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const killPoint = yield* KillPoint
    yield* requireDatabase(file)
    const real = yield* prepareDataFolder(folder)
    yield* instanceLock(real)
    const target = path.join(real, databaseName)
    if ((yield* inspectPartialInstallation(real, { readOnly: false })).database === "installed") {
      return yield* new BackupRefused({ message: `${real} holds a database already. Restore into an empty folder.` })
    }
    const partial = path.join(real, restoringName)
    const unpacked = path.join(real, restoringFilesName)
    const removePartial = Effect.forEach(
      [partial, `${partial}-wal`, `${partial}-shm`, unpacked],
      (remains) => Effect.ignore(fs.remove(remains, { force: true, recursive: true })),
      { discard: true }
    )
    yield* removePartial
    return yield* Effect.gen(function* () {
      yield* fs.copyFile(file, partial)
      yield* fs.chmod(partial, 0o600)
      yield* killPoint("restoring.copied")
      const manifest = yield* authenticate(partial, file, unpacked, options)
      yield* killPoint("restoring.authenticated")
      const taken = yield* prepare(partial, real, manifest, options.keys)
      yield* killPoint("restoring.prepared")
      yield* syncFile(partial)
      // Move away the log of a lost database, because SQLite would replay the log into the restored database.
      const aside = yield* setAside(real, [])
      yield* killPoint("restoring.cleared")
      if (Option.isSome(manifest)) yield* placeFiles(unpacked, real, manifest.value)
      yield* fs.remove(unpacked, { force: true, recursive: true })
      yield* fs.rename(partial, target)
      yield* syncFile(target)
      yield* killPoint("restoring.placed")
      yield* settleInstallation(real).pipe(Effect.provide(layerWriter(target), { local: true }))
      return { ...taken, authenticated: Option.isSome(manifest), manifest: Option.getOrUndefined(manifest), aside }
    }).pipe(Effect.ensuring(removePartial))
  },
  Effect.scoped,
  (effect, file) =>
    Effect.catchTags(effect, {
      PlatformError: (error) => new BackupRefused({ message: `${file} cannot be restored: ${error.message}.` }),
      SqlError: (error) => new BackupRefused({ message: `${file} cannot be restored: ${error.message}` }),
      MigrationError: (error) => new BackupRefused({ message: `${file} cannot be restored: ${error.message}` })
    })
)
