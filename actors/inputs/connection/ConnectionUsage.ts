import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { coordinatorUnderWay } from "../../../schema/tables/PlanTables.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { SourceRow } from "../../ledger/source/SourceRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { type ConnectionId, InstallPlanId } from "../../../schema/records/Ids.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"

// Installs are coordinated above this folder.
const OpenInstall = rowShape({ id: InstallPlanId })

/** Beyond this, only the count is given. */
const mostNamed = 10

/**
 * What uses a Connection: existing Capsules that bind it, Sources that are fetched with it, installs that will use it, and
 * active Runs with it. Ended Capsules and earlier configurations do not count.
 */
export const usersOf = Effect.fn("Connection.usersOf")(function* (id: ConnectionId) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleRow.some(sql, "id", "name", "environment")`SELECT DISTINCT c.id, c.name, c.environment
    FROM provider_bindings b JOIN capsules c ON c.install_config_id = b.install_config_id
    WHERE b.connection_id = ${id} AND ${sql.literal(livingCapsule("c."))} ORDER BY c.name, c.id`
  const sources = yield* SourceRow.some(
    sql,
    "name"
  )`SELECT name FROM sources WHERE auth_connection_id = ${id} ORDER BY name, id`
  const installs = yield* OpenInstall.rows(sql)`SELECT id FROM install_plans
    WHERE ${sql.literal(coordinatorUnderWay)} AND (json_extract(request, '$.source.authConnectionId') = ${id}
      OR EXISTS (SELECT 1 FROM json_each(request, '$.options.providerBindings') b
        WHERE json_extract(b.value, '$.connectionId') = ${id})) ORDER BY id`
  const runs = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE status IN ('queued', 'running')
    AND (json_extract(spec, '$.authConnectionId') = ${id}
      OR id IN (SELECT run_id FROM connection_holds WHERE connection_id = ${id})) ORDER BY id`
  const named = [
    ...capsules.map(({ environment, name }) => `the Capsule ${name} (${environment})`),
    ...sources.map(({ name }) => `the Source ${name}`),
    ...installs.map((install) => `the install plan ${install.id}`),
    ...runs.map((run) => `the Run ${run.id}`)
  ]
  // Several may have the same name.
  const names = [...Map.groupBy(named, (name) => name)].map(([name, all]) =>
    all.length === 1 ? name : `${name} (${all.length} times)`
  )
  const more = names.length - mostNamed
  return more > 0 ? [...names.slice(0, mostNamed), `${more} more`] : names
}, Effect.orDie)
