import { Schema } from "effect"
import { Dependency, DependencyOutput } from "../../schema/records/Capsule.ts"

export interface DependencyRow {
  readonly id: string
  readonly workspace_id: string
  readonly producer_capsule_id: string
  readonly consumer_capsule_id: string
  readonly mode: Dependency["mode"]
  readonly outputs: string
  readonly created_at: string
}

export const DependencyOutputsJson = Schema.fromJsonString(Schema.Array(DependencyOutput))

const decodeOutputs = Schema.decodeUnknownSync(DependencyOutputsJson)
const decodeDependency = Schema.decodeUnknownSync(Dependency)

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
