import type { AuditEvent } from "../api/Types.ts"
import type { IconName } from "../ui/Icon.tsx"

export type ActivityTone = "good" | "bad" | "warn" | "plain"

export interface ActivityMark {
  readonly icon: IconName
  readonly tone: ActivityTone
}

const byAction: Readonly<Record<string, ActivityMark>> = {
  "run.approve": { icon: "check", tone: "good" },
  "run.apply": { icon: "run", tone: "good" },
  "capsule.auto_apply": { icon: "check", tone: "good" },
  "run.cancel": { icon: "stop", tone: "plain" },
  "run.withdraw_approval": { icon: "cross", tone: "bad" },
  "capsule.destroy_plan": { icon: "minus", tone: "bad" },
  "capsule.drift_check": { icon: "warning", tone: "plain" },
  "source.sync_deferred": { icon: "clock", tone: "warn" },
  "capsule.auto_update_deferred": { icon: "clock", tone: "warn" },
  "connection.renewal.failed": { icon: "warning", tone: "bad" },
  "workspace.automation.pause": { icon: "stop", tone: "warn" }
}

const byKind: ReadonlyArray<readonly [RegExp, IconName]> = [
  [/^(?:run|run_group|install_plan|revision_plan)\./, "run"],
  [/^capsule\./, "capsule"],
  [/^source\./, "sync"],
  [/^(?:connection|token|passkey|session|identity|account)\./, "connection"],
  [/^(?:member|invitation|automation|team|approval_rule)\./, "people"],
  [/^(?:dependency|output_share|interface|handoff)\./, "graph"]
]

/** Returns an event's mark. The shape shows the kind of event, and the colour shows progress, a stop or a removal. */
export const markOf = ({ action }: Pick<AuditEvent, "action">): ActivityMark =>
  byAction[action] ?? {
    icon: byKind.find(([pattern]) => pattern.test(action))?.[1] ?? "activity",
    tone: /\.(?:remove|revoke|discard|delete|retire)$/.test(action) ? "bad" : "plain"
  }
