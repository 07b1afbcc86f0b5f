import { Schema } from "effect"
import { Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { AddressProof } from "../../../schema/records/Invitation.ts"
import { SubjectKind } from "../../../schema/records/Workspace.ts"
import { SubjectsJson } from "./PeopleBehind.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"

/** Accounts of people, and the automation members of Workspaces. */
export const StoredUser = table(
  "users",
  {
    subject: Subject,
    email: Schema.String,
    display_name: Schema.NullOr(Schema.String),
    email_proof: Schema.NullOr(AddressProof),
    is_operator: Flag,
    status: Schema.String,
    created_at: Timestamp,
    updated_at: Timestamp,
    kind: SubjectKind,
    /** Who made an automation; `NULL` for a person. */
    made_by: Schema.NullOr(SubjectsJson)
  },
  ["kind"]
)
export type StoredUser = RowOf<typeof StoredUser.columns>

/** Password of an account, hashed. */
export const PasswordRow = table("user_passwords", {
  subject: Subject,
  password_hash: Schema.String,
  updated_at: Timestamp
})
export type PasswordRow = RowOf<typeof PasswordRow.columns>
