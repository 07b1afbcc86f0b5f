import {
  Clock,
  Context,
  DateTime,
  Effect,
  FileSystem,
  Layer,
  Metric,
  Path,
  Ref,
  Result,
  Schedule,
  Semaphore,
  Option,
  Redacted,
  Schema,
  Stream
} from "effect"
import { isCoolingDown } from "../../actors/base/Cooldown.ts"
import { SqlClient } from "effect/sql"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { writeNotice } from "../../actors/base/notice/Notices.ts"
import type { DashboardNotice, ServerBackups } from "../../schema/api/DashboardApi.ts"
import type { Settings } from "../settings/Settings.ts"
import { backupName, keptBackups, overdueMillis, pendingName, removePending } from "./BackupFolder.ts"
import { isKeyBesideData } from "./KeyPlace.ts"
import process from "node:process"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SvcCommand } from "./SvcCommand.ts"

export const backupAge = Metric.gauge("svc_backup_age_seconds", {
  description: "Age of the newest scheduled backup that was verified, in seconds; absent until there is one."
})

export const failedBackups = Metric.counter("svc_backups_failed_total", {
  description: "Scheduled backups that could not be written or verified.",
  incremental: true
})

/** Error if a command that the server started has failed. */
class SvcSubprocessFailed extends Schema.TaggedError<SvcSubprocessFailed>()("SvcSubprocessFailed", {
  message: Schema.String,
  /** True if the backup was written but could not be restored in the trial. */
  isUnverified: Schema.optionalKey(Schema.Boolean)
}) {}

const Refusal = Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }))
const Verdict = Schema.fromJsonString(Schema.Struct({ problems: Schema.Array(Schema.String) }))

/**
 * Returns the variables that pass the server's settings to the command. Secrets do not leak, because other users cannot read a
 * process's environment.
 */
const environmentOf = (settings: Settings): Record<string, string> => {
  const passed = ["PATH", "HOME", "TMPDIR"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const { backupSnapshots, dataDir, masterKey, masterKeyCommand, masterKeyFile } = settings
  return {
    ...Object.fromEntries(passed),
    SVC_DATA_DIR: dataDir,
    SVC_BACKUP_SNAPSHOTS: String(backupSnapshots),
    ...(masterKey === undefined ? {} : { SVC_MASTER_KEY: Redacted.value(masterKey) }),
    ...(masterKeyFile === undefined ? {} : { SVC_MASTER_KEY_FILE: masterKeyFile }),
    ...(masterKeyCommand === undefined ? {} : { SVC_MASTER_KEY_COMMAND: masterKeyCommand })
  }
}

const reasonOf = (out: string, error: string): string => {
  const problems = Option.match(Schema.decodeOption(Verdict)(out.trim()), {
    onNone: () => [],
    onSome: (verdict) => verdict.problems
  })
  if (problems.length > 0) return problems.slice(0, 3).join(" ")
  return Option.match(Schema.decodeOption(Refusal)(error.trim()), {
    onNone: () => error.trim().slice(-500),
    onSome: (refusal) => refusal.error.message
  })
}

/**
 * Runs an svc command with this server's settings in a separate process, because reading a whole database would delay every
 * request. Kills the process when the scope closes.
 */
const runSvc = Effect.fn("runSvc")(
  function* (settings: Settings, args: ReadonlyArray<string>) {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const command = yield* SvcCommand
    const handle = yield* spawner.spawn(
      ChildProcess.make(command.program, [...command.args, ...args, "--json"], {
        env: environmentOf(settings),
        stdin: "ignore"
      })
    )
    const text = (stream: typeof handle.stdout) => stream.pipe(Stream.decodeText(), Stream.mkString)
    const [out, error, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
      concurrency: 3
    })
    if (Number(code) !== 0) return yield* new SvcSubprocessFailed({ message: reasonOf(out, error) })
  },
  Effect.scoped,
  Effect.catchTag("PlatformError", ({ message }) => new SvcSubprocessFailed({ message }))
)

const lookEvery = "15 seconds"
/** Maximum time between a failure and the next attempt. If the backup interval is shorter, the interval applies. */
const retryMillis = 3_600_000

/** Flushes a folder to disk, so that the names of its files are durable. */
const syncFolder = (folder: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    Effect.scoped(Effect.flatMap(files.open(folder, { flag: "r" }), (handle) => handle.sync))
  )

/** Verifies a backup by restoring it elsewhere. */
const verified = (settings: Settings, file: string) =>
  Effect.mapError(
    runSvc(settings, ["backup", "verify", file]),
    ({ message }) => new SvcSubprocessFailed({ message, isUnverified: true })
  )

/**
 * Writes a backup into the folder and verifies it by restoring it. Only after the verification does it give the backup its
 * final name and remove the oldest backups, so an unusable backup never replaces a usable one.
 */
const makeBackup = Effect.fn("makeBackup")(
  function* (settings: Settings, folder: string) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const at = yield* Clock.currentTimeMillis
    const pending = path.join(folder, pendingName(at))
    yield* removePending(folder)
    yield* runSvc(settings, ["backup", pending]).pipe(
      Effect.andThen(verified(settings, pending)),
      Effect.onError(() => Effect.ignore(files.remove(pending, { force: true })))
    )
    yield* files.rename(pending, path.join(folder, backupName(at)))
    yield* syncFolder(folder)
    for (const { file } of (yield* keptBackups(folder)).slice(settings.backupKeep)) yield* files.remove(file)
  },
  Effect.catchTag("PlatformError", ({ message }) => new SvcSubprocessFailed({ message }))
)

/** Makes scheduled backups in the running server, if the settings specify a folder for them. */
export class ScheduledBackups extends Context.Service<
  ScheduledBackups,
  {
    /** Notices about backups for operators. */
    readonly notices: Effect.Effect<ReadonlyArray<DashboardNotice>>
    /** Lists the stored backups; `undefined` if no backups are scheduled. */
    readonly kept: Effect.Effect<ServerBackups | undefined>
    /** Creates a backup if it is due. */
    readonly turn: Effect.Effect<void>
  }
>()("svc/src/backup/ScheduledBackups") {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      ScheduledBackups,
      Effect.gen(function* () {
        const folder = settings.backupDirectory
        if (folder === undefined) {
          return ScheduledBackups.of({
            notices: Effect.succeed([]),
            kept: Effect.succeed(undefined),
            turn: Effect.void
          })
        }
        const services = yield* Effect.context<
          FileSystem.FileSystem | Path.Path | SqlClient.SqlClient | Effect.Services<ReturnType<typeof makeBackup>>
        >()
        const failedAt = yield* Ref.make<number | undefined>(undefined)
        const single = yield* Semaphore.make(1)
        const isBeside = yield* isKeyBesideData(settings)
        const intervalMillis = settings.backupInterval * 3_600_000

        const newestBackup = Effect.map(keptBackups(folder), ([newest]) => newest)
        const newestAge = Effect.gen(function* () {
          const newest = yield* newestBackup
          if (newest === undefined) return undefined
          const age = (yield* Clock.currentTimeMillis) - newest.writtenAt
          return age < 0 ? undefined : age
        })

        const report = Effect.fnUntraced(function* (isUnverified: boolean) {
          const sql = yield* SqlClient.SqlClient
          const facts = { workspaceId: null, subject: { kind: "server" as const, id: "backup" }, path: "", data: {} }
          yield* transaction(sql)(
            isUnverified
              ? writeNotice(sql, "backup.unverified", Effect.succeed(facts))
              : writeNotice(sql, "backup.failed", Effect.succeed(facts))
          )
        })

        const turn = Effect.gen(function* () {
          const found = yield* Effect.result(newestAge)
          const old = Result.getOrElse(found, () => undefined)
          if (old !== undefined) yield* Metric.update(backupAge, old / 1000)
          const waits = isCoolingDown(
            yield* Ref.get(failedAt),
            Math.min(retryMillis, intervalMillis),
            yield* Clock.currentTimeMillis
          )
          if ((old ?? Infinity) < intervalMillis || waits) return
          yield* Effect.fromResult(found)
          yield* makeBackup(settings, folder)
          yield* Ref.set(failedAt, undefined)
          yield* Metric.update(backupAge, ((yield* newestAge) ?? 0) / 1000)
          yield* Effect.logInfo(`A backup was written to ${folder} and verified`)
        }).pipe(
          Effect.catch((failure) =>
            Effect.gen(function* () {
              const { message } = failure
              // Report only the first failure. Later attempts fail for the same reason until somebody fixes the problem.
              if ((yield* Ref.get(failedAt)) === undefined) {
                yield* report("isUnverified" in failure && failure.isUnverified === true)
              }
              yield* Ref.set(failedAt, yield* Clock.currentTimeMillis)
              yield* Metric.update(failedBackups, 1)
              yield* Effect.logError(`The scheduled backup failed, and earlier ones are kept: ${message}`)
            })
          ),
          single.withPermit,
          Effect.provideContext(services)
        )

        const notices = Effect.gen(function* () {
          const failed = yield* Ref.get(failedAt)
          // Treat an unreadable folder as having no usable backup.
          const isOverdue = Result.match(yield* Effect.result(newestAge), {
            onFailure: () => true,
            onSuccess: (old) => old !== undefined && old > overdueMillis(settings.backupInterval)
          })
          return [
            ...(failed !== undefined || isOverdue ? (["backup_failed"] as const) : []),
            ...(isBeside ? (["key_beside_data"] as const) : [])
          ]
        }).pipe(Effect.provideContext(services))

        const kept = newestBackup.pipe(
          Effect.orElseSucceed(() => undefined),
          Effect.map((newest) =>
            newest === undefined ? {} : { newestAt: DateTime.formatIso(DateTime.makeUnsafe(newest.writtenAt)) }
          ),
          Effect.provideContext(services)
        )

        yield* Effect.forkScoped(Effect.repeat(turn, Schedule.spaced(lookEvery)))
        return ScheduledBackups.of({ notices, kept, turn })
      })
    )
}
