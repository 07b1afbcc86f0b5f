import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { fenceColumns } from "../../../../actors/ledger/capsule/AuthorityColumns.ts"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import type { GuardedCapsuleRow } from "../../../../actors/ledger/capsule/CapsuleRow.ts"
import { world } from "../../../src/http/support/World.ts"
import { suite } from "../../../support/Effect.ts"
import { ledgers } from "../../support/GuardedPlane.ts"
import { CapsuleId, InstallConfigId } from "../../../../schema/records/Ids.ts"

const tests = suite(ledgers)
afterAll(tests.dispose)

/** For each fence column, a concurrent change to that column. */
const stale: Readonly<Record<(typeof fenceColumns)[number], Partial<GuardedCapsuleRow>>> = {
  id: { id: CapsuleId.make("cap_bbbbbbbbbbbbbbbbbbbbbbbb") },
  status: { status: "stale" },
  execution_authority_epoch: { execution_authority_epoch: 2 },
  install_config_id: { install_config_id: InstallConfigId.make("icfg_bbbbbbbbbbbbbbbbbbbbbbbb") },
  current_state_generation: { current_state_generation: 1 },
  current_state_version_id: { current_state_version_id: world.stateVersionId }
}

const present = Effect.gen(function* () {
  const capsule = yield* (yield* CapsuleLedger).find(world.capsuleId)
  return capsule ?? (yield* Effect.die("no Capsule"))
})

tests.live("the Capsule fence compares exactly six authority columns", () =>
  Effect.sync(() => expect(new Set<string>(fenceColumns)).toEqual(new Set(Object.keys(stale))))
)

for (const [column, change] of Object.entries(stale)) {
  tests.live(`the Capsule fence rejects a row whose only stale column is ${column}, and writes nothing`, () =>
    Effect.gen(function* () {
      const before = yield* present
      expect(yield* (yield* CapsuleLedger).fence({ ...before, ...change }, { status: "error" })).toBe(false)
      expect(yield* present).toEqual(before)
    })
  )
}

tests.live("the Capsule fence distinguishes a missing state version from the state version that was read", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const point = (id: string | null) =>
      sql`UPDATE capsules SET current_state_version_id = ${id} WHERE id = ${world.capsuleId}`
    yield* point(world.stateVersionId)
    const before = yield* present
    const ledger = yield* CapsuleLedger
    expect(yield* ledger.fence({ ...before, current_state_version_id: null }, { status: "error" })).toBe(false)
    expect(yield* ledger.fence(before, { status: "error" })).toBe(true)
    expect((yield* present).status).toBe("error")
    yield* sql`UPDATE capsules SET status = 'active', current_state_version_id = NULL WHERE id = ${world.capsuleId}`
  })
)

tests.live("the Capsule fence updates a row that has not changed since it was read", () =>
  Effect.gen(function* () {
    expect(yield* (yield* CapsuleLedger).fence(yield* present, { execution_authority_epoch: 2 })).toBe(true)
    expect((yield* present).execution_authority_epoch).toBe(2)
  })
)
