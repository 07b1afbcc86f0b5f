import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"
import type { InstallPlanId, RunId } from "../../../../schema/records/Ids.ts"
import type { RunType } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { coordinatedRun, settled } from "../../../support/Journey.ts"
import { hasPostgres } from "../../../support/PostgresTests.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import {
  appliedResult,
  approvedApply,
  begun,
  offerTo,
  planOn,
  sharedFarPlane,
  stateFile,
  world
} from "../../http/support/FarPlane.ts"

const tests = suite(sharedFarPlane)
afterAll(tests.dispose)

/** Ends the server's session at the first write of this kind, as an administrator could. */
const losing = Effect.fnUntraced(function* (table: string, when = "TRUE") {
  const sql = yield* SqlClient.SqlClient
  for (const statement of [
    "CREATE SEQUENCE IF NOT EXISTS losses",
    // A sequence keeps its value when the transaction is rolled back.
    "ALTER SEQUENCE losses RESTART",
    `CREATE OR REPLACE FUNCTION lose_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('losses') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW; END $$`,
    "DROP TRIGGER IF EXISTS loses_session ON runs",
    "DROP TRIGGER IF EXISTS loses_session ON run_preparations",
    `CREATE TRIGGER loses_session BEFORE INSERT OR UPDATE ON ${table}
      FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION lose_session()`
  ]) {
    yield* sql.unsafe(statement).unprepared
  }
})

const losingAtEnd = (type: RunType) => losing("runs", `NEW.type = '${type}' AND NEW.status = 'succeeded'`)

const started = Effect.fnUntraced(function* (id: RunId) {
  const { items } = yield* (yield* RunStreams).events(id, 0, 1000)
  return items.filter(({ kind }) => kind === "run.started").length
})

/** Returns the Run that an install is waiting for, once the Run has ended. */
const waitedFor = Effect.fnUntraced(function* (id: InstallPlanId) {
  const { context } = yield* TestPlane
  const plans = yield* InstallPlanCommands
  yield* plans.Reconcile(id, { context })
  const run = yield* coordinatedRun(id)
  return run === undefined ? yield* Effect.die(new Error("The install waits for no Run")) : yield* settled(run)
})

describe.skipIf(!hasPostgres)("Lost database sessions", () => {
  tests.live(
    "a server whose database session ends starts its syncs, checks and preparations again, and settles the result of an agent unchanged",
    () =>
      Effect.gen(function* () {
        const agent = yield* (yield* world).enrolled()
        yield* losingAtEnd("source_sync")
        const id = yield* begun("lost")
        const sync = yield* waitedFor(id)
        expect([sync.type, sync.status, sync.error, sync.attempt, yield* started(sync.id)]).toEqual([
          "source_sync",
          "succeeded",
          undefined,
          1,
          2
        ])
        yield* losing("run_preparations")
        const { offer } = yield* offerTo(agent)
        expect(yield* started(offer.runId)).toBe(2)
        yield* planOn(agent, offer)
        const { apply } = yield* approvedApply(id)
        const { offer: applyOffer } = yield* offerTo(agent)
        yield* agent.as(agent.client.Accept(applyOffer))
        yield* agent.as(agent.client.Start(applyOffer))
        yield* losingAtEnd("apply")
        const claim = { runId: applyOffer.runId, fence: applyOffer.fence }
        const state = yield* agent.put(claim, "state", stateFile(1))
        const outputs = [{ name: "value", type: "string", value: Redacted.make("one"), sensitive: false }]
        yield* agent.finish(claim, appliedResult(1, outputs), { lastBatch: 0, state })
        const run = yield* settled(apply.id)
        expect([run.status, run.error, yield* started(run.id)]).toEqual(["succeeded", undefined, 1])
      }),
    120_000
  )
})
