import { Context, type Duration } from "effect"
import { type KindPeriod, retention } from "../../../schema/records/Retention.ts"

/** The time for which the operator keeps records that are no longer needed. */
export interface PolicyPeriods {
  readonly logs: Duration.Duration
  /** Retention of files from agents and of ephemeral agents; absent means the default. */
  readonly agentFiles?: Duration.Duration
  readonly goneAgents?: Duration.Duration
  /** Retention periods that override the defaults. */
  readonly periods: { readonly [Period in KindPeriod]?: Duration.Duration }
}

export const RetentionPolicy = Context.Reference<PolicyPeriods>("svc/actors/ledger/run/RetentionPolicy", {
  defaultValue: () => ({ logs: retention.runLog.after, periods: {} })
})
