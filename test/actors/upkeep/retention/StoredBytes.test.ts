import { afterAll, expect } from "bun:test"
import { Effect, Layer } from "effect"
import { StoredBytes } from "../../../../actors/upkeep/retention/StoredBytes.ts"
import { storedPlaces } from "../../../../actors/upkeep/retention/StoredPlaces.ts"
import { StoredKind } from "../../../../schema/records/StoredKind.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { add, emptyWorld, living, run, snapshot, state, workspaceId } from "./support/RetainedWorld.ts"

const tests = suite(StoredBytes.layer.pipe(Layer.provideMerge(testAccounts)))
afterAll(tests.dispose)

const amountsOf = Effect.fnUntraced(function* () {
  const { amounts } = yield* (yield* StoredBytes).measure
  return Object.fromEntries(
    amounts.filter((amount) => amount.workspaceId === workspaceId).map(({ bytes, kind }) => [kind, bytes])
  )
})

tests.live(
  "stored bytes are counted by Workspace and kind for any number of rows, and shared content is counted once",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const stored = yield* StoredBytes
      expect(yield* stored.measured).toBeUndefined()
      const id = yield* run("logged")
      for (let part = 0; part < 1200; part++) {
        yield* add("run_log_chunks", { run_id: id, first_seq: part * 10 + 1, last_seq: part * 10 + 10, bytes: 7 })
      }
      yield* add("run_events", { run_id: id, seq: 1, data: '{"a":1}' })
      yield* snapshot("one", { archive_digest: "same" })
      yield* snapshot("two", { archive_digest: "same" })
      yield* state(living, 1, { state: "0123456789" })
      yield* add("audit_events", { id: "aud_historyhistoryhistoryhist", workspace_id: workspaceId, data: "{}" })
      expect(yield* amountsOf()).toMatchObject({ logs: 8400, events: 7, snapshots: 1000, states: 10, history: 2 })
      expect((yield* stored.measured)?.amounts.length).toBeGreaterThan(4)
    })
)

tests.live("stored bytes are recounted after an hour, but not earlier", () =>
  Effect.gen(function* () {
    const stored = yield* StoredBytes
    yield* stored.measureSometimes
    const first = yield* stored.measured
    yield* stored.measureSometimes
    expect(yield* stored.measured).toBe(first)
  })
)

tests.live("stored bytes include every kind of record", () =>
  Effect.sync(() =>
    expect([...new Set(storedPlaces.map(({ kind }) => kind))].toSorted()).toEqual(StoredKind.literals.toSorted())
  )
)
