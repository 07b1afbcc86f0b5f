import { Context, Effect, Layer } from "effect"
import type { DashboardNotice, ServerBackups } from "../../schema/api/DashboardApi.ts"
import { ScheduledBackups } from "../backup/ScheduledBackups.ts"

/** Backup notices for operators. They are read on every page load. */
export const BackupNotices = Context.Reference<{
  readonly notices: Effect.Effect<ReadonlyArray<DashboardNotice>>
  /** `undefined` if no backups are scheduled. */
  readonly serverBackups: Effect.Effect<ServerBackups | undefined>
}>("svc/src/http/BackupNotices", {
  defaultValue: () => ({ notices: Effect.succeed([]), serverBackups: Effect.succeed(undefined) })
})

/** Notices from this server's backup schedule. */
export const backupNotices = Layer.effect(
  BackupNotices,
  Effect.map(ScheduledBackups, ({ kept: serverBackups, notices }) => ({ notices, serverBackups }))
)
