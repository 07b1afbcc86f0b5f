import { Duration, Layer } from "effect"
import { AuditRetention } from "../../actors/base/audit/AuditRemoval.ts"
import { RetentionPolicy } from "../../schema/records/Retention.ts"
import type { Settings } from "./Settings.ts"

/** Returns the retention periods, from these settings, for records that are no longer needed. */
export const retentionSettings = (settings: Settings) =>
  Layer.mergeAll(
    Layer.succeed(RetentionPolicy, {
      logs: Duration.days(settings.keepLogs),
      agentFiles: Duration.days(settings.keepAgentFiles),
      goneAgents: Duration.days(settings.forgetAgents),
      periods: {
        run: Duration.days(settings.keepRuns),
        runEvent: Duration.days(settings.keepEvents),
        stateVersion: Duration.days(settings.keepStates),
        sourceSnapshot: Duration.days(settings.keepSnapshots),
        planRecord: Duration.days(settings.keepPlans),
        backup: Duration.days(settings.keepCapsuleBackups)
      }
    }),
    Layer.succeed(AuditRetention, settings.keepAudit === undefined ? undefined : Duration.days(settings.keepAudit))
  )
