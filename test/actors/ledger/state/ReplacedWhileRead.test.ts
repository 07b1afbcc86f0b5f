import { afterAll, expect } from "bun:test"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { RunPlans } from "../../../../actors/running/execution/RunPlans.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { readBacklog } from "../../../../actors/ledger/state/StateBacklog.ts"
import { StateVersionRow } from "../../../../actors/ledger/state/StateVersionRow.ts"
import { statePlace, StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { hasIntegrityFault } from "../../../../actors/base/vault/IntegrityFault.ts"
import { partBytes } from "../../../../actors/base/vault/SealedParts.ts"
import type { SealContext } from "../../../../actors/base/vault/Sealing.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { RunId, StateVersionId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { testVault } from "../../../support/Vault.ts"
import {
  add,
  emptyWorld,
  living,
  run,
  state,
  workspaceId as inWorld
} from "../../upkeep/retention/support/RetainedWorld.ts"

/** An effect that runs only once, after a row has been read and before its parts are read. */
let meanwhile: Effect.Effect<unknown> = Effect.void

const happens = Effect.suspend(() => {
  const once = meanwhile
  meanwhile = Effect.void
  return once
})

const interrupted = Layer.effect(
  Vault,
  Effect.map(Vault, (vault) =>
    Vault.of({
      ...vault,
      open: (context, envelope) => Effect.andThen(happens, vault.open(context, envelope)),
      openStored: (context, envelope) => Effect.andThen(happens, vault.openStored(context, envelope))
    })
  )
)

const tests = suite(
  Layer.mergeAll(RunCheckpoints.layer, RunPlans.layer, StateVersions.layer).pipe(
    Layer.provideMerge(interrupted),
    Layer.provideMerge(testVault)
  )
)
afterAll(tests.dispose)

const workspaceId = WorkspaceId.make(inWorld)
const filled = (length: number, fill: number) => new Uint8Array(length).fill(fill)
const long = 2 * partBytes

const sealed = Effect.fnUntraced(function* (context: SealContext, bytes: Uint8Array) {
  return yield* (yield* Vault).seal(context, Redacted.make(bytes))
})

tests.live(
  "reading a checkpoint that is replaced during the read returns the new checkpoint, or nothing if it was removed",
  () =>
    Effect.gen(function* () {
      yield* emptyWorld
      const sql = yield* SqlClient.SqlClient
      const checkpoints = yield* RunCheckpoints
      const runId = RunId.make(yield* run("checkpoint"))
      const place = { table: "run_checkpoints", column: "state", workspaceId, rowId: runId }
      yield* add("run_checkpoints", { run_id: runId, state: yield* sealed(place, filled(long, 1)) })
      const load = Effect.map(
        checkpoints.load(workspaceId, runId),
        Option.map((bytes) => [Redacted.value(bytes).length, Redacted.value(bytes)[0]])
      )
      const replacedBy = (bytes: Uint8Array) =>
        Effect.orDie(
          Effect.flatMap(
            sealed(place, bytes),
            (value) => sql`UPDATE run_checkpoints SET state = ${value} WHERE run_id = ${runId}`
          )
        )
      const services = yield* Effect.context<Vault>()
      for (const [length, fill] of [
        [long + 1, 2],
        [100, 3]
      ] as const) {
        yield* replacedBy(filled(long, 1))
        meanwhile = Effect.provideContext(replacedBy(filled(length, fill)), services)
        expect(yield* load).toEqual(Option.some([length, fill]))
      }

      yield* replacedBy(filled(long, 1))
      meanwhile = Effect.orDie(sql`DELETE FROM run_checkpoints WHERE run_id = ${runId}`)
      expect(yield* load).toEqual(Option.none())
    })
)

tests.live("a checkpoint whose parts are missing is an integrity fault", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    const runId = RunId.make(yield* run("damaged"))
    const place = { table: "run_checkpoints", column: "state", workspaceId, rowId: runId }
    yield* add("run_checkpoints", { run_id: runId, state: yield* sealed(place, filled(long, 1)) })
    yield* sql`DELETE FROM sealed_parts WHERE owner = ${runId} AND part = 1`
    const exit = yield* Effect.exit((yield* RunCheckpoints).load(workspaceId, runId))
    expect(Exit.isFailure(exit) && hasIntegrityFault(exit.cause)).toBe(true)
  })
)

tests.live("reading a saved plan or StateVersion returns nothing if the record is removed during the read", () =>
  Effect.gen(function* () {
    yield* emptyWorld
    const sql = yield* SqlClient.SqlClient
    const plans = yield* RunPlans
    const runId = RunId.make(yield* run("plan"))
    const planFile = Redacted.make(filled(long, 1))
    const secrets = { inputs: [], credentials: [], marked: [] }
    yield* plans.save(workspaceId, runId, { planFile, secrets, lockText: "", consumed: [] })
    const saved = yield* plans.load(workspaceId, runId)
    expect(saved === undefined ? 0 : Redacted.value(saved.planFile).length).toBe(long)
    meanwhile = plans.drop(runId)
    expect(yield* plans.load(workspaceId, runId)).toBeUndefined()

    const id = StateVersionId.make(yield* state(living, 1))
    const value = yield* sealed(statePlace({ workspace_id: workspaceId, id, generation: 1 }), filled(long, 1))
    yield* sql`UPDATE state_versions SET state = ${value} WHERE id = ${id}`
    const [row] = yield* StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id = ${id}`
    if (row === undefined) return yield* Effect.die(id)
    const states = yield* StateVersions
    // Deletes the state's row just before the background index reads it.
    meanwhile = Effect.orDie(sql`DELETE FROM state_versions WHERE id = ${id}`)
    yield* readBacklog
    expect(yield* sql`SELECT generation FROM state_indexes`).toEqual([])
    expect(yield* states.openStored(row)).toEqual(Option.none())
    // A reader that requires the state fails, but reports no integrity fault.
    const exit = yield* Effect.exit(states.open(row))
    expect(Exit.isFailure(exit) && !hasIntegrityFault(exit.cause)).toBe(true)
  })
)
