import { Context, type Duration } from "effect"

/** How long the operator keeps audit events; `undefined` means forever. */
export const AuditRetention = Context.Reference<Duration.Duration | undefined>("svc/actors/base/audit/AuditRetention", {
  defaultValue: () => undefined
})
