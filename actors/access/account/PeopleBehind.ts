import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Subject } from "../../../schema/records/Ids.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { rowShape } from "../../base/database/Table.ts"

export const SubjectsJson = jsonText(Schema.Array(Subject))

const Maker = rowShape({ made_by: Schema.NullOr(SubjectsJson) })
const Minter = rowShape({ created_by: Schema.NullOr(Subject) })

/**
 * Returns the people behind an automation: its creator, and the creator of its token. Returns an empty list for a person.
 * Reads the database in the caller's transaction.
 */
export const peopleBehind = Effect.fn("peopleBehind")(function* ({
  subject,
  tokenId
}: {
  readonly subject?: string | undefined
  readonly tokenId?: string | undefined
}) {
  if (subject === undefined) return []
  const sql = yield* SqlClient.SqlClient
  const [user] = yield* Maker.rows(sql)`SELECT made_by FROM users WHERE subject = ${subject}`
  const [token] =
    tokenId === undefined
      ? []
      : yield* Minter.rows(sql)`SELECT created_by FROM access_tokens WHERE token_id = ${tokenId}`
  const makers = user == null || user.made_by === null ? [] : SubjectsJson.read(user.made_by)
  const minters = token == null || token.created_by === null ? [] : [token.created_by]
  return [...new Set([...makers, ...minters])].filter((person) => person !== subject)
}, Effect.orDie)
