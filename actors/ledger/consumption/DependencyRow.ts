import { Schema } from "effect"
import { Dependency, DependencyOutput, DependencyMode } from "../../../schema/records/Capsule.ts"
import { CapsuleId, DependencyId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table, rowShape } from "../../base/database/Table.ts"
import { storedJson, storedRecord } from "../../base/database/StoredRecord.ts"

/** Dependencies: Outputs of one Capsule that another Capsule consumes. */
export const DependencyRow = table("dependencies", {
  id: DependencyId,
  workspace_id: WorkspaceId,
  producer_capsule_id: CapsuleId,
  consumer_capsule_id: CapsuleId,
  mode: DependencyMode,
  outputs: Schema.String,
  created_at: Timestamp
})
export type DependencyRow = RowOf<typeof DependencyRow.columns>

/** The two ends of a dependency, as an edge of the graph. */
export const DependencyEdgeRow = rowShape({ producer: CapsuleId, consumer: CapsuleId })

export const DependencyOutputsJson = Schema.fromJsonString(Schema.Array(DependencyOutput))

const decodeOutputs = storedJson(Schema.Array(DependencyOutput))
const decodeDependency = storedRecord(Dependency)

export const toDependency = (row: DependencyRow): Dependency =>
  decodeDependency({
    id: row.id,
    workspaceId: row.workspace_id,
    producerCapsuleId: row.producer_capsule_id,
    consumerCapsuleId: row.consumer_capsule_id,
    mode: row.mode,
    outputs: decodeOutputs(row.outputs),
    createdAt: row.created_at
  })
