import { Schema } from "effect"
import { Workspace } from "../../schema/records/Workspace.ts"

/** A Workspace joined with the reader's membership, as SQL gives it. */
export const WorkspaceRow = Schema.Struct({
  ...Workspace.fields,
  archivedAt: Schema.NullOr(Workspace.fields.createdAt)
})
export type WorkspaceRow = typeof WorkspaceRow.Type

/** Columns for a query over `workspaces w JOIN memberships m`. */
export const workspaceColumns = `w.id, w.handle, w.display_name AS "displayName", w.type, m.role,
  w.archived_at AS "archivedAt", w.created_at AS "createdAt", w.updated_at AS "updatedAt"`

export const toWorkspace = ({ archivedAt, ...rest }: WorkspaceRow): Workspace =>
  archivedAt === null ? rest : { ...rest, archivedAt }
