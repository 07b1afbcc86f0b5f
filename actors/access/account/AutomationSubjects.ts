import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type AccessTokenId, Subject } from "../../../schema/records/Ids.ts"
import type { AuditActor } from "../../../schema/records/AuditEvent.ts"
import { newId, now } from "../../base/Identity.ts"
import { peopleBehind, SubjectsJson } from "./PeopleBehind.ts"
import { TokenRow } from "./TokenRow.ts"
import { StoredUser } from "./UserRow.ts"

/**
 * Creates, in the caller's transaction, a subject that never signs in. The subject is also stored in the address column.
 * Records the creator and, if the creator is itself an automation, the people behind it.
 */
export const makeAutomation = Effect.fn("makeAutomation")(function* (displayName: string, maker: AuditActor) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* now
  const subject = yield* newId(Subject, "usr")
  const own = maker.subject === undefined ? [] : [Subject.make(maker.subject)]
  const madeBy = [...own, ...(yield* peopleBehind(maker))]
  yield* sql`INSERT INTO users ${StoredUser.values(sql, {
    subject,
    kind: "automation",
    email: subject,
    display_name: displayName,
    is_operator: 0,
    status: "active",
    created_at: at,
    updated_at: at,
    made_by: SubjectsJson.write(madeBy)
  })}`
  return subject
}, Effect.orDie)

/** Renames an automation. Does nothing for a person, because people choose their own names. */
export const renameAutomation = Effect.fn("renameAutomation")(function* (subject: string, displayName: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE users SET ${StoredUser.changes(sql, { display_name: displayName, updated_at: yield* now })}
    WHERE subject = ${subject} AND kind = 'automation'`
}, Effect.orDie)

/**
 * Revokes every active token of an automation, in the caller's transaction. Does nothing for a person, whose tokens may belong to
 * other Workspaces.
 */
export const endAutomationTokens = Effect.fn("endAutomationTokens")(function* (subject: string) {
  const sql = yield* SqlClient.SqlClient
  const ended = yield* TokenRow.some(sql, "token_id")`UPDATE access_tokens
    SET ${TokenRow.changes(sql, { revoked_at: yield* now })}
    WHERE subject = ${subject} AND revoked_at IS NULL
      AND EXISTS (SELECT 1 FROM users u WHERE u.subject = access_tokens.subject AND u.kind = 'automation')
    RETURNING token_id`
  return ended.map(({ token_id }): AccessTokenId => token_id)
}, Effect.orDie)
