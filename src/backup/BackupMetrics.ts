import { Metric } from "effect"

export const backupAge = Metric.gauge("svc_backup_age_seconds", {
  description: "Age of the newest scheduled backup that was verified, in seconds; absent until there is one."
})

export const failedBackups = Metric.counter("svc_backups_failed_total", {
  description: "Scheduled backups that could not be written or verified.",
  incremental: true
})
