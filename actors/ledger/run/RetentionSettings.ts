import { Context, type Duration } from "effect"
import { type KindPeriod, retention } from "../../../schema/records/Retention.ts"

/** The time for which the operator keeps records that are no longer needed. */
export interface RetentionPolicy {
  readonly logs: Duration.Duration
  /** For files that agents sent, and for ephemeral agents; defaults apply if absent. */
  readonly agentFiles?: Duration.Duration
  readonly goneAgents?: Duration.Duration
  /** Periods that differ from the defaults. */
  readonly periods: { readonly [Period in KindPeriod]?: Duration.Duration }
}

export const RetentionSettings = Context.Reference<RetentionPolicy>("svc/actors/ledger/run/RetentionSettings", {
  defaultValue: () => ({ logs: retention.runLog.after, periods: {} })
})
