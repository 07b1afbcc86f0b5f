import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { updateMembers } from "../../../../actors/running/run-group/WaveDecision.ts"
import { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { at, id, seedCapsules } from "../../support/SeededCapsules.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const state = { current_state_version_id: `sv_${"a".repeat(24)}` }

tests.live("an update can be limited to some of the stale Capsules, and includes their consumers", () =>
  Effect.gen(function* () {
    const { context, workspaceId } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const stale = { ...state, status: "stale" }
    yield* seedCapsules(
      workspaceId,
      5,
      new Map([
        [0, stale],
        [1, stale],
        [2, state],
        [3, state]
      ])
    )
    // Capsule 2 consumes an Output of Capsule 1. Capsule 4 has never been applied.
    yield* sql`INSERT INTO dependencies ${sql.insert({
      id: `dep_${"a".repeat(24)}`,
      workspace_id: workspaceId,
      producer_capsule_id: id(1),
      consumer_capsule_id: id(2),
      mode: "published_output",
      outputs: "[]",
      created_at: at
    })}`
    const of = (only?: ReadonlyArray<number>) =>
      Effect.map(
        updateMembers(
          sql,
          workspaceId,
          only?.map((index) => CapsuleId.make(id(index)))
        ),
        ({ ordered }) => ordered.map(String)
      )
    expect(yield* of()).toEqual([id(0), id(1), id(2)])
    expect(yield* of([1])).toEqual([id(1), id(2)])
    expect(yield* of([0, 3, 4, 99])).toEqual([id(0)])
    expect(yield* of([3])).toEqual([])
    const refused = (yield* Capsules).planUpdate(context, workspaceId, [CapsuleId.make(id(3))])
    expect((yield* Effect.flip(refused)).message).toBe("None of the named Capsules of this Workspace is stale.")
  })
)
