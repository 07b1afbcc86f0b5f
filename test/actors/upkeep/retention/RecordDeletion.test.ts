import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { removeRecords } from "../../../../actors/upkeep/retention/RecordDeletion.ts"
import { RecordRemoval } from "../../../../actors/upkeep/retention/RecordRemoval.ts"
import { retainedKinds } from "../../../../actors/upkeep/retention/RetainedKinds.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { danglingRows } from "../../../support/Dialect.ts"
import { suite } from "../../../support/Effect.ts"
import { young } from "./support/Removal.ts"
import { add, emptyWorld, living, named, run, state } from "./support/RetainedWorld.ts"

const tests = suite(RecordRemoval.layer.pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

const resource = (address: string, from: number, to: number | null) =>
  add("resource_versions", { capsule_id: living, address, valid_from: from, valid_to: to })

tests.live("content shared by several StateVersions is removed only with the last StateVersion that uses it", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    for (let generation = 1; generation <= 20; generation++) {
      const id = yield* state(living, generation)
      yield* add("state_indexes", { state_version_id: id, capsule_id: living, generation })
    }
    yield* sql`UPDATE capsules SET current_state_version_id = ${named("sv", "l20")} WHERE id = ${living}`
    yield* add("consumed_inputs", { state_version_id: named("sv", "l3") })
    yield* resource("gone.first", 1, 2)
    yield* resource("gone.both", 1, 3)
    // There are more records than one step removes.
    for (let index = 0; index < 700; index++) yield* resource(`gone.many[${index}]`, 4, 6)
    yield* resource("kept.third", 1, 4)
    yield* resource("kept.always", 1, null)
    yield* resource("kept.late", 5, 20)
    yield* add("output_versions", { capsule_id: living, name: "gone", valid_from: 4, valid_to: 5 })
    yield* add("output_versions", { capsule_id: living, name: "kept", valid_from: 1, valid_to: null })
    const other = { capsule_id: `cap_${"a".repeat(24)}`, valid_from: 1, valid_to: 2 }
    yield* add("resource_versions", { ...other, address: "kept.elsewhere" })
    yield* (yield* RecordRemoval).removeAll
    const kept = yield* sql<{ address: string }>`SELECT address FROM resource_versions ORDER BY address`
    expect(kept.map(({ address }) => address)).toEqual(["kept.always", "kept.elsewhere", "kept.late", "kept.third"])
    expect(yield* sql`SELECT name FROM output_versions`).toEqual([{ name: "kept" }])
    const versions = yield* sql`SELECT id AS state_version_id FROM state_versions ORDER BY id`
    expect(versions.length).toBeLessThan(20)
    expect(yield* sql`SELECT state_version_id FROM state_indexes ORDER BY state_version_id`).toEqual(versions)
    expect(yield* danglingRows(sql)).toEqual([])
  })
)

const mebibyte = 1024 * 1024

/** Stores the sealed parts of a value that belongs to this owner, and returns the value. */
const inParts = Effect.fnUntraced(function* (owner: string, parts: number) {
  const sql = yield* SqlClient.SqlClient
  const value = `v2.dk_${"0".repeat(24)}.${owner.slice(-22)}`
  for (let part = 0; part < parts; part++) {
    yield* sql`INSERT INTO sealed_parts (value, part, owner, nonce, bytes) VALUES (${value}, ${part}, ${owner}, 'n', ${new Uint8Array(mebibyte)})`
  }
  return value
}, Effect.orDie)

tests.live("one removal transaction deletes a limited number of long values, counted by their parts", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    for (let generation = 1; generation <= 20; generation++) {
      const isLong = generation <= 2
      yield* state(living, generation, isLong ? { state: yield* inParts(named("sv", `l${generation}`), 2) } : {})
    }
    yield* sql`UPDATE capsules SET current_state_version_id = ${named("sv", "l20")} WHERE id = ${living}`
    for (const name of ["one", "two"]) {
      const run_id = yield* run(name)
      yield* add("run_plans", { run_id, plan_file: yield* inParts(run_id, 2) })
    }
    const places = [
      { name: "state_versions", ids: [named("sv", "l1"), named("sv", "l2")] },
      { name: "plan_files", ids: [named("run", "one"), named("run", "two")] }
    ] as const
    for (const { ids, name } of places) {
      const kind = retainedKinds.find((each) => each.name === name)
      if (kind === undefined) return yield* Effect.die(name)
      const step = Effect.map(removeRecords(sql, kind, young, ids), ({ isOver, removed }) => ({
        isOver,
        records: removed.reduce((sum, { records }) => sum + records, 0),
        // Rounds down to whole MiB, to ignore the small columns of the row.
        mebibytes: Math.floor(removed.reduce((sum, { bytes }) => sum + bytes, 0) / mebibyte)
      }))
      expect([name, yield* step]).toEqual([name, { isOver: false, records: 1, mebibytes: 2 }])
      expect([name, yield* step]).toEqual([name, { isOver: true, records: 1, mebibytes: 2 }])
    }
    expect(yield* sql`SELECT part FROM sealed_parts`).toEqual([])
  })
)
