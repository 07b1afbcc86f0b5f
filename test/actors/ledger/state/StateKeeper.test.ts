import { afterAll, expect } from "bun:test"
import { Effect, Layer, Option, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import { makeStateKeeper } from "../../../../actors/ledger/state/StateKeeper.ts"
import type { StateCheckpoint } from "../../../../runner/execution/RunSink.ts"
import { newPerson, newWorkspace, testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import type { RunId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"

const tests = suite(
  Layer.mergeAll(RunLedger.layer, RunCheckpoints.layer).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const state = (serial: number): StateCheckpoint => ({
  state: Redacted.make(new TextEncoder().encode(`state ${serial}`)),
  serial,
  resourceCount: 1
})

const running = Effect.fnUntraced(function* (name: string) {
  const owner = yield* newPerson(name)
  const { id: workspaceId } = yield* newWorkspace(owner.subject, { handle: name })
  yield* (yield* RunLedger).insert({ id: namedRun(name), workspaceId, type: "apply", trigger: "user", spec: {} })
  const run = yield* (yield* RunLifecycle).claim(namedRun(name), "inst_test#1")
  return run ?? (yield* Effect.die("the Run is not queued"))
})

/** Returns a Run's stored state and the serials that its events report. */
const kept = Effect.fnUntraced(function* (workspaceId: WorkspaceId, runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  const checkpoint = yield* (yield* RunCheckpoints).load(workspaceId, runId)
  const events = yield* sql<{ data: string }>`SELECT data FROM run_events
    WHERE run_id = ${runId} AND kind = 'state.saved' ORDER BY seq`
  return {
    state: Option.getOrUndefined(Option.map(checkpoint, (bytes) => new TextDecoder().decode(Redacted.value(bytes)))),
    saved: events.map(({ data }): unknown => JSON.parse(data))
  }
})

const saved = (serial: number) => ({ serial, resourceCount: 1, final: false })

tests.live("a state and its event are committed together", () =>
  Effect.gen(function* () {
    const run = yield* running("kept")
    const states = yield* (yield* makeStateKeeper)(run)
    // The Workspace's first state also needs a data key, which has its own commit.
    yield* (yield* Vault).prepare(run.workspace_id, ["run_checkpoints"])
    let commits = 0
    const stop = (yield* Commits).listen(() => {
      commits += 1
    })
    yield* states.offer(state(2))
    yield* states.end
    stop()
    expect(commits).toBe(1)
    expect(yield* kept(run.workspace_id, run.id)).toEqual({ state: "state 2", saved: [saved(2)] })
  })
)

tests.live("no event reports a state whose commit failed, and no state is stored after the execution ends", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const run = yield* running("unsaid")
    const states = yield* (yield* makeStateKeeper)(run)
    yield* createTrigger(
      sql,
      `CREATE TRIGGER no_events BEFORE INSERT ON run_events WHEN NEW.run_id = '${run.id}'
      BEGIN SELECT RAISE(ABORT, 'no events'); END`
    )
    yield* states.offer(state(2))
    yield* Effect.provideService(states.end, References.MinimumLogLevel, "None")
    expect(yield* kept(run.workspace_id, run.id)).toEqual({ state: undefined, saved: [] })
    yield* dropTrigger(sql, "no_events")
    yield* states.end
    expect(yield* kept(run.workspace_id, run.id)).toEqual({ state: undefined, saved: [] })
  })
)

tests.live("the state keeper writes nothing for another owner's Run, and reports the lost hold to the execution", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const lifecycle = yield* RunLifecycle
    const run = yield* running("other")
    const states = yield* (yield* makeStateKeeper)(run)
    yield* Effect.gen(function* () {
      yield* lifecycle.requeue(holdOf(run), "taken away", { counts: true })
      yield* lifecycle.claim(run.id, "inst_other#1")
    }).pipe(transaction(sql))
    yield* states.offer(state(2))
    expect((yield* Effect.flip(states.lost)).runId).toBe(run.id)
    expect(yield* kept(run.workspace_id, run.id)).toEqual({ state: undefined, saved: [] })
  })
)
