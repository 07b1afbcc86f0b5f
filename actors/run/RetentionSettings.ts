import { Context, type Duration } from "effect"
import { retention } from "../../schema/records/Retention.ts"

/** How long the operator keeps what nothing needs any more. */
export interface RetentionPolicy {
  readonly logs: Duration.Duration
}

export const RetentionSettings = Context.Reference<RetentionPolicy>("svc/actors/run/RetentionSettings", {
  defaultValue: () => ({ logs: retention.runLog.after })
})
