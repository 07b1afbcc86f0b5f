import { expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connectionUseColumns } from "../../../../schema/tables/ConnectionTables.ts"
import { seed, world } from "../../../src/http/support/World.ts"
import { it } from "../../../support/Effect.ts"
import { testDatabase } from "../../../support/Database.ts"

const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`
const event = (id: string, action: string, target_id: string, subject: string, data: object, day: number) => ({
  id,
  workspace_id: world.workspaceA,
  actor_kind: "user",
  actor_subject: subject,
  action,
  target_kind: "x",
  target_id,
  data: JSON.stringify(data),
  created_at: at(day)
})

/** Restores the previous release's tables and rows, then runs this release's migration. */
const upgradedFromBefore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const statement of [
    "DROP TABLE connection_holds",
    "DROP TABLE former_connection_values",
    "ALTER TABLE connections DROP COLUMN use_rule",
    "ALTER TABLE connections DROP COLUMN version",
    "ALTER TABLE connections DROP COLUMN removed_at",
    "ALTER TABLE capsules DROP COLUMN auto_update_by",
    "ALTER TABLE sources DROP COLUMN auth_connection_by",
    "ALTER TABLE sources DROP COLUMN default_ref_by_manager",
    ...connectionUseColumns
  ]) {
    yield* sql.unsafe(statement).unprepared
  }
})

const authority = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT c.use_rule, c.version, c.removed_at, p.auto_update_by, s.auth_connection_by,
    s.default_ref_by_manager FROM connections c, capsules p, sources s`
  return row
})

it.live(
  "an upgrade restricts existing Connections to owners and admins, and keeps the same person responsible for each automation",
  () =>
    Effect.gen(function* () {
      yield* seed
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE capsules SET auto_update_enabled = 1`
      yield* sql`UPDATE sources SET auth_connection_id = ${world.connectionId}, default_ref = 'main'`
      for (const each of [
        event("act_1", "source.create", world.sourceId, world.bob, { name: "app" }, 1),
        event("act_2", "capsule.update", world.capsuleId, world.bob, { fields: ["autoUpdate"] }, 1),
        event("act_3", "capsule.update", world.capsuleId, world.ada, { fields: ["name", "autoUpdate"] }, 2),
        event("act_4", "capsule.update", world.capsuleId, world.viewer, { fields: ["name"] }, 3)
      ]) {
        yield* sql`INSERT INTO audit_events ${sql.insert(each)}`
      }
      yield* upgradedFromBefore
      expect(yield* authority).toEqual({
        use_rule: '{"roles":["owner","admin"]}',
        version: 1,
        removed_at: null,
        auto_update_by: world.ada,
        auth_connection_by: world.bob,
        default_ref_by_manager: 0
      })

      // Only the last person to choose the Connection is recorded. A default ref that the repository declares is treated as
      // if a manager had chosen it.
      const chosen = event("act_5", "source.update", world.sourceId, world.ada, { fields: ["authConnectionId"] }, 4)
      yield* sql`INSERT INTO audit_events ${sql.insert(chosen)}`
      yield* sql`UPDATE sources SET default_ref = 'HEAD'`
      yield* sql`DELETE FROM audit_events WHERE action = 'capsule.update'`
      yield* upgradedFromBefore
      expect(yield* authority).toMatchObject({
        auto_update_by: null,
        auth_connection_by: world.ada,
        default_ref_by_manager: 1
      })
    }).pipe(Effect.provide(testDatabase))
)
