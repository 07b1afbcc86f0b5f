import { expect } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { StateResources } from "../../actors/ledger/state/StateResources.ts"
import { StateVersionRow } from "../../actors/ledger/state/StateVersionRow.ts"
import { StateVersions } from "../../actors/ledger/state/StateVersions.ts"
import { parseState } from "../../runner/execution/StateFile.ts"
import type { CapsuleId } from "../../schema/records/Ids.ts"

/** Checks that a Capsule's resource list matches its state. Returns, by address, the Runs that changed the resources. */
export const expectIndexed = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const states = yield* StateVersions
  const [row] = yield* Effect.orDie(StateVersionRow.rows(sql)`SELECT * FROM state_versions
    WHERE id = (SELECT current_state_version_id FROM capsules WHERE id = ${capsuleId})`)
  if (row === undefined) return yield* Effect.die(new Error("the Capsule has no state"))
  const state = parseState(Redacted.value(yield* states.open(row)))
  const inState = Option.getOrUndefined(state)?.managed?.map(({ address }) => address)
  const { indexed, items, stateVersionId } = yield* (yield* StateResources).list(capsuleId, {}, { limit: 100 })
  expect({ indexed, stateVersionId }).toEqual({ indexed: true, stateVersionId: row.id })
  expect(items.map(({ address }) => address)).toEqual((inState ?? []).toSorted())
  return new Map(items.map(({ address, changedByRunId }) => [address, changedByRunId]))
})
