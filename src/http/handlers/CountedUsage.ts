import type { StoredMeasurement } from "../../../actors/upkeep/retention/StoredBytes.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { StoredKind } from "../../../schema/records/StoredKind.ts"

/** The kinds of usage that are counted in the background. Logs and states are counted on each request. */
const countedKinds = [
  ["events", "event_bytes"],
  ["plans", "plan_bytes"],
  ["snapshots", "snapshot_bytes"],
  ["backups", "backup_bytes"],
  ["history", "history_bytes"]
] as const satisfies ReadonlyArray<readonly [StoredKind, string]>

/** The latest count, as usage for one Workspace. */
export const countedUsage = ({ amounts, at }: StoredMeasurement, workspaceId: WorkspaceId) =>
  countedKinds.map(([kind, metric]) => ({
    metric,
    value: amounts.find((amount) => amount.kind === kind && amount.workspaceId === workspaceId)?.bytes ?? 0,
    countedAt: at
  }))
