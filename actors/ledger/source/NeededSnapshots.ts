import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { rowShape } from "../../base/database/Table.ts"

const Needed = rowShape({ archive_digest: Schema.String })

/**
 * Returns the archives that existing Capsules need for their next plan or destroy: the snapshots that the Capsules were
 * applied or installed from, and the newest snapshots of the lanes that they follow.
 */
export const neededSnapshots = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const living = sql.literal(livingCapsule("c."))
  const rows = yield* Needed.rows(sql)`
    SELECT archive_digest FROM source_snapshots WHERE id IN (
      SELECT c.adopted_snapshot_id FROM capsules c WHERE c.adopted_snapshot_id IS NOT NULL AND ${living}
      UNION SELECT i.source_snapshot_id FROM install_configs i JOIN capsules c ON c.install_config_id = i.id
        WHERE i.source_snapshot_id IS NOT NULL AND ${living}
      UNION SELECT l.source_snapshot_id FROM source_lanes l JOIN capsules c ON c.source_id = l.source_id
        WHERE l.source_snapshot_id IS NOT NULL AND ${living}
    ) GROUP BY archive_digest ORDER BY archive_digest`
  return rows.map((row) => row.archive_digest)
})
