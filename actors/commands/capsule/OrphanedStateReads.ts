import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import { OrphanedState } from "../../../schema/records/OrphanedState.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { RunStatus, RunType } from "../../../schema/records/Run.ts"
import { rowShape } from "../../base/database/Table.ts"
import { present } from "../../ledger/run/RunRow.ts"
import { openInLine } from "../../ledger/run/RunLedger.ts"
import type { ListedOrphanedState } from "../../ledger/state/OrphanedStates.ts"
import { stateVersionIdOf } from "../../ledger/state/StateVersions.ts"
import { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { type AdoptionFacts, adoptionProblems } from "./AdoptionProblems.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"

const OpenRun = rowShape({ id: RunId, type: RunType, status: RunStatus })
const Restored = rowShape({ restored_at: Timestamp })

type Capsule = AdoptionFacts["capsule"] & { readonly id: CapsuleId }

/** Reads the facts that determine whether a Capsule's left-over states can be adopted now. */
export const adoptionFacts = Effect.fn("adoptionFacts")(function* (sql: SqlClient.SqlClient, capsule: Capsule) {
  const [current] = yield* Effect.orDie(StateVersionRow.some(sql, "lineage", "serial")`SELECT lineage, serial
    FROM state_versions WHERE id = ${capsule.current_state_version_id}`)
  const [openRun] = yield* Effect.orDie(OpenRun.rows(sql)`SELECT id, type, status FROM runs
    WHERE ${openInLine(sql, capsule.id)} ORDER BY queued_at, id LIMIT 1`)
  const [installation] = yield* Effect.orDie(Restored.rows(sql)`SELECT restored_at FROM installation
    WHERE restored_at IS NOT NULL`)
  return (leftOver: ListedOrphanedState): AdoptionFacts => ({
    leftOver,
    capsule,
    current,
    openRun,
    isRestored: installation !== undefined && installation.restored_at >= leftOver.created_at
  })
})

const decodeUnfinishedApply = storedRecord(OrphanedState)

/** Returns the public projection of a left-over state. */
export const toOrphanedState = (row: ListedOrphanedState, facts: AdoptionFacts): OrphanedState =>
  decodeUnfinishedApply({
    id: row.id,
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    runId: row.run_id,
    createdAt: row.created_at,
    status: row.adopted_at !== null ? "adopted" : row.discarded_at !== null ? "discarded" : "kept",
    reason: row.reason,
    digest: row.digest,
    sizeBytes: row.size_bytes,
    base: {
      stateGeneration: row.state_generation,
      executionAuthorityEpoch: row.execution_authority_epoch,
      ...present({ stateVersionId: row.state_version_id })
    },
    adoptionProblems: adoptionProblems(facts),
    ...present({
      lineage: row.lineage,
      serial: row.serial,
      resourceCount: row.resource_count,
      adoption:
        row.adopted_at === null
          ? undefined
          : { at: row.adopted_at, stateVersionId: stateVersionIdOf(row.id), ...present({ by: row.adopted_by }) },
      discard: row.discarded_at === null ? undefined : { at: row.discarded_at, ...present({ by: row.discarded_by }) }
    })
  })
