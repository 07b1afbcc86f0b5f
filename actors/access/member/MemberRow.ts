import { Schema, Struct } from "effect"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { Member } from "../../../schema/records/Workspace.ts"

/** A member with the account behind it, as read with `memberColumns`. */
export const MemberRow = Schema.Struct({
  ...Member.fields,
  displayName: Schema.NullOr(Schema.String),
  email: Schema.NullOr(Schema.String),
  leftAt: Schema.NullOr(Timestamp)
})

export type MemberRow = typeof MemberRow.Type

export const toMember = (row: MemberRow): Member => ({
  ...Struct.omit(row, ["displayName", "email", "leftAt"]),
  ...(row.displayName === null ? {} : { displayName: row.displayName }),
  ...(row.email === null ? {} : { email: row.email })
})

// The address of an automation is a placeholder.
export const memberColumns = `m.subject, u.kind, u.display_name AS "displayName",
  CASE WHEN u.kind = 'person' THEN u.email END AS email, m.role, m.status, m.left_at AS "leftAt",
  m.created_at AS "createdAt", m.updated_at AS "updatedAt"`
