import { Schema, Struct } from "effect"
import { Workspace } from "../../../schema/records/Workspace.ts"

/** A Workspace joined with the reader's membership, as returned by SQL. */
export const WorkspaceRow = Schema.Struct({
  ...Struct.omit(Workspace.fields, ["automationPause", "driftChecks"]),
  driftCheckHours: Schema.NullOr(Schema.Int),
  archivedAt: Schema.NullOr(Workspace.fields.createdAt),
  automationPausedAt: Schema.NullOr(Workspace.fields.createdAt),
  automationPausedBy: Schema.NullOr(Schema.String),
  automationPauseReason: Schema.NullOr(Schema.String)
})
export type WorkspaceRow = typeof WorkspaceRow.Type

/** Columns for a query over `workspaces w JOIN memberships m`. */
export const workspaceColumns = `w.id, w.handle, w.display_name AS "displayName", w.type, m.role,
  w.archived_at AS "archivedAt", w.automation_paused_at AS "automationPausedAt",
  w.automation_paused_by AS "automationPausedBy", w.automation_pause_reason AS "automationPauseReason",
  w.drift_check_hours AS "driftCheckHours", w.created_at AS "createdAt", w.updated_at AS "updatedAt"`

export const toWorkspace = ({
  archivedAt,
  automationPausedAt,
  automationPausedBy,
  automationPauseReason,
  driftCheckHours,
  ...rest
}: WorkspaceRow): Workspace => ({
  ...rest,
  driftChecks:
    driftCheckHours === null || driftCheckHours === 0 ? { mode: "off" } : { mode: "every", hours: driftCheckHours },
  ...(archivedAt === null ? {} : { archivedAt }),
  ...(automationPausedAt === null || automationPausedBy === null
    ? {}
    : {
        automationPause: {
          at: automationPausedAt,
          by: automationPausedBy,
          ...(automationPauseReason === null ? {} : { reason: automationPauseReason })
        }
      })
})
