import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, replanned } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { largestTransaction } from "../../../support/TransactionSize.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

const transactions = largestTransaction()
const tests = suite(testPlane({ runner: pureRunner(pureModules()), writer: transactions.layer }))
afterAll(tests.dispose)

/** Waits until svc closes the Run's log, which is its last write for a Run. */
const over = Effect.fnUntraced(function* (id: RunId) {
  const streams = yield* RunStreams
  for (;;) {
    const changed = Promise.withResolvers<void>()
    const stop = streams.listen(id, changed.resolve)
    const { done } = yield* streams.logs(id, 0, 1)
    if (!done) yield* Effect.promise(() => changed.promise)
    stop()
    if (done) return
  }
})

/** Counts the database commits while `effect` runs. */
const committed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let count = 0
  const stop = (yield* Commits).listen(() => {
    count += 1
  })
  const value = yield* effect
  stop()
  return { count, value }
})

/**
 * Maximum number of commits for a plan and for an apply. Before the introduction of holds and durable sequences, a plan took
 * 25 commits and an apply 30. Preparing a Run requires no commit.
 */
const most = { plan: 25, apply: 31 }

/**
 * Maximum number of statements per transaction. Every other writer waits for the transaction, and if the database is on
 * another machine, every statement takes a round trip.
 */
const mostStatements = 50

// This test runs first, because the first values of a Workspace also require data keys, which take additional commits.
tests.live("no transaction of an installation, a plan and an apply runs more than 50 statements", () =>
  Effect.gen(function* () {
    transactions.seen.statements = 0
    const { capsule } = yield* active("statements", pureModule)
    yield* applied(yield* replanned(capsule.id))
    expect(transactions.seen.statements).toBeGreaterThan(20)
    expect(transactions.seen.statements).toBeLessThanOrEqual(mostStatements)
  })
)

tests.live("a plan and an apply each stay within their limit of commits", () =>
  Effect.gen(function* () {
    const { capsule } = yield* active("commits", pureModule)
    // Takes the minimum of several measurements, because background work also commits.
    const fewest = { plan: Number.POSITIVE_INFINITY, apply: Number.POSITIVE_INFINITY }
    for (let round = 0; round < 4; round += 1) {
      const plan = yield* committed(Effect.tap(replanned(capsule.id), ({ id }) => over(id)))
      const apply = yield* committed(Effect.tap(applied(plan.value), ({ id }) => over(id)))
      fewest.plan = Math.min(fewest.plan, plan.count)
      fewest.apply = Math.min(fewest.apply, apply.count)
    }
    expect(fewest.plan).toBeLessThanOrEqual(most.plan)
    expect(fewest.apply).toBeLessThanOrEqual(most.apply)
  })
)
