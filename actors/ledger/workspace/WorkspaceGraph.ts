import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"

const Node = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(["source", "capsule"]),
  name: Schema.String,
  status: Schema.String,
  environment: Schema.NullOr(Schema.String)
})
const Edge = Schema.Struct({ id: Schema.String, from: Schema.String, to: Schema.String, mode: Schema.String })

/** Returns the Sources and existing Capsules of a Workspace, and their dependencies. Edges run from producer to consumer. */
export const readWorkspaceGraph = Effect.fn("readWorkspaceGraph")(function* (workspaceId: WorkspaceId) {
  const read = yield* ReadSql
  const living = (alias?: Parameters<typeof livingCapsule>[0]) => read.literal(livingCapsule(alias))
  const nodes = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Node,
    execute: () => read`SELECT id, 'source' AS kind, name, status, NULL AS environment FROM sources
        WHERE workspace_id = ${workspaceId} AND removed_at IS NULL
      UNION ALL SELECT id, 'capsule', name, status, environment FROM capsules
        WHERE workspace_id = ${workspaceId} AND ${living()}
      ORDER BY 2 DESC, 3, 1`
  })(undefined)
  const edges = yield* SqlSchema.findAll({
    Request: Schema.Void,
    Result: Edge,
    execute: () => read`SELECT d.id, d.producer_capsule_id AS "from", d.consumer_capsule_id AS "to", d.mode
        FROM dependencies d
        JOIN capsules p ON p.id = d.producer_capsule_id AND ${living("p.")} AND p.workspace_id = d.workspace_id
        JOIN capsules c ON c.id = d.consumer_capsule_id AND ${living("c.")}
        WHERE d.workspace_id = ${workspaceId}
      UNION ALL SELECT id || ':source', source_id, id, 'source' FROM capsules
        WHERE workspace_id = ${workspaceId} AND ${living()}
      ORDER BY 1`
  })(undefined)
  return {
    nodes: nodes.map(({ environment, ...node }) => (environment === null ? node : { ...node, environment })),
    edges
  }
}, Effect.orDie)
