import { define } from "./SettingDefinition.ts"

/** Backups, whether created on command or by the running server. */
export const backupSettings = define({
  backupSnapshots: {
    env: "SVC_BACKUP_SNAPSHOTS",
    flag: "backup-snapshots",
    metavar: "true|false",
    default: "true",
    description:
      "Whether backups take along the snapshots and builds that living Capsules need; without them they are fetched from Git and built again"
  },
  backupDirectory: {
    env: "SVC_BACKUP_DIRECTORY",
    flag: "backup-directory",
    metavar: "folder",
    description: "Existing folder that the running server writes backups into; none are scheduled when absent"
  },
  backupInterval: {
    env: "SVC_BACKUP_INTERVAL",
    flag: "backup-interval",
    metavar: "hours",
    default: "24",
    description: "Hours from one scheduled backup to the next"
  },
  backupKeep: {
    env: "SVC_BACKUP_KEEP",
    flag: "backup-keep",
    metavar: "number",
    default: "7",
    description: "Scheduled backups that are kept; the oldest is removed once a newer one was verified"
  }
})
