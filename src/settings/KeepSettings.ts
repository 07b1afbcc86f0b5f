import { Duration } from "effect"
import { retention, type RetentionPeriod } from "../../schema/records/Retention.ts"
import { define } from "./SettingDefinition.ts"

const days = ({ after }: RetentionPeriod) => String(Duration.toDays(after))

/** The retention periods of records that nothing needs. */
export const keepSettings = define({
  keepLogs: {
    env: "SVC_KEEP_LOGS",
    flag: "keep-logs",
    metavar: "days",
    default: days(retention.runLog),
    description: "Days that the logs of ended Runs are kept, at least 7; what is still needed stays longer"
  },
  keepEvents: {
    env: "SVC_KEEP_EVENTS",
    flag: "keep-events",
    metavar: "days",
    default: days(retention.runEvent),
    description: "Days that the events of ended Runs are kept, at least 7"
  },
  keepRuns: {
    env: "SVC_KEEP_RUNS",
    flag: "keep-runs",
    metavar: "days",
    default: days(retention.run),
    description: "Days that ended Runs are kept, at least 7; never shorter than their logs"
  },
  keepStates: {
    env: "SVC_KEEP_STATES",
    flag: "keep-states",
    metavar: "days",
    default: days(retention.stateVersion),
    description: "Days that StateVersions are kept, at least 7; the ten newest of a living Capsule stay"
  },
  keepSnapshots: {
    env: "SVC_KEEP_SNAPSHOTS",
    flag: "keep-snapshots",
    metavar: "days",
    default: days(retention.sourceSnapshot),
    description: "Days that source snapshots and compatibility reports are kept, at least 7"
  },
  keepPlans: {
    env: "SVC_KEEP_PLANS",
    flag: "keep-plans",
    metavar: "days",
    default: days(retention.planRecord),
    description: "Days that install plans, revision plans and decisions of auto-update are kept, at least 7"
  },
  keepAgentFiles: {
    env: "SVC_KEEP_AGENT_FILES",
    flag: "keep-agent-files",
    metavar: "days",
    default: days(retention.agentFile),
    description: "Days that the files are kept that an agent sent of an apply that was given up, at least 1"
  },
  forgetAgents: {
    env: "SVC_FORGET_AGENTS",
    flag: "forget-agents",
    metavar: "days",
    default: days(retention.goneAgent),
    description: "Days after which an agent that comes and goes is forgotten when it is not heard of, at least 1"
  },
  keepCapsuleBackups: {
    env: "SVC_KEEP_CAPSULE_BACKUPS",
    flag: "keep-capsule-backups",
    metavar: "days",
    default: days(retention.backup),
    description: "Days that backups of Capsules and Workspaces are kept, at least 7; the newest of each stays"
  }
})
