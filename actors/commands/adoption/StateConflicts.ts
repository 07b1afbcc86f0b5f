import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ManagedObject } from "../../../runner/execution/StateFile.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { addressList } from "./AddressList.ts"
import { ManagedElsewhere, type ManagedTwice, type Unindexed } from "./ManagedElsewhere.ts"

/** A Capsule that already manages part of a state. */
export interface StateConflict {
  readonly code: "state_lineage_known" | "state_resource_managed" | "run_conflict"
  readonly message: string
}

const namedAtMost = 20

const managedWords = (twice: ReadonlyArray<ManagedTwice>): string => {
  const named = addressList(
    twice.map(({ address, capsule }) => `${address} (Capsule ${capsule.name})`),
    namedAtMost
  )
  return `Other Capsules of the Workspace manage resources of this state already: ${named}. Two states over one resource destroy each other's work: release that Capsule, or remove the resources from one of the states.`
}

/** Does not reveal the name of a Capsule in another Workspace. */
const lineageWords = (
  workspaceId: WorkspaceId,
  capsule: { readonly name: string; readonly workspace_id: WorkspaceId }
) =>
  `This state's lineage is already managed ${capsule.workspace_id === workspaceId ? `by the Capsule ${capsule.name}` : "in this installation"}. To move it, release the Capsule that has it first.`

const justCommitted: StateConflict = {
  code: "run_conflict",
  message: "A Capsule of the Workspace has just received a state, which has not been read yet. Try again."
}

/**
 * Returns the Capsules that manage the same state or the same resources. Ignores destroyed and released Capsules, which manage
 * nothing.
 */
export const stateConflicts = Effect.fn("stateConflicts")(function* (
  workspaceId: WorkspaceId,
  state: { readonly lineage: string; readonly managed: ReadonlyArray<ManagedObject> },
  unindexed: Unindexed
): Effect.fn.Return<ReadonlyArray<StateConflict>, never, SqlClient.SqlClient | ManagedElsewhere> {
  const sql = yield* SqlClient.SqlClient
  const living = sql.literal(livingCapsule("c."))
  const [known] = yield* Effect.orDie(CapsuleRow.some(sql, "name", "workspace_id")`
    SELECT c.name, c.workspace_id FROM state_versions v JOIN capsules c ON c.id = v.capsule_id
      WHERE v.lineage = ${state.lineage} AND ${living}
    UNION ALL SELECT c.name, c.workspace_id FROM left_over_states l JOIN capsules c ON c.id = l.capsule_id
      WHERE l.lineage = ${state.lineage} AND l.state IS NOT NULL AND ${living}`)
  if (known !== undefined) return [{ code: "state_lineage_known", message: lineageWords(workspaceId, known) }]
  const twice = yield* (yield* ManagedElsewhere).find(workspaceId, state.managed, unindexed)
  if (twice === undefined) return [justCommitted]
  return twice.length === 0 ? [] : [{ code: "state_resource_managed", message: managedWords(twice) }]
})
