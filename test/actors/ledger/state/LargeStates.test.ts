import { afterAll, expect } from "bun:test"
import { Effect, Layer, Option, References, Tracer } from "effect"
import { suite } from "../../../support/Effect.ts"
import { active, applied, replanned } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { largestTransaction } from "../../../support/TransactionSize.ts"
import { withLargeStates } from "../../support/LargeState.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

const transactions = largestTransaction()

/** How often states were read for the index, and how often of these in a transaction. */
const reads = { all: 0, inTransaction: 0 }

const isInTransaction = (span: Option.Option<Tracer.AnySpan>): boolean =>
  Option.isSome(span) &&
  span.value._tag === "Span" &&
  // A Run's spans have the transaction that queued it among their parents, which has ended.
  ((span.value.name === "sql.transaction" && span.value.status._tag === "Started") ||
    isInTransaction(span.value.parent))

const tracer = Tracer.make({
  span: (options) => {
    if (options.name === "StateIndex.readEntries") {
      reads.all += 1
      if (isInTransaction(options.parent)) reads.inTransaction += 1
    }
    return new Tracer.NativeSpan(options)
  }
})

const tests = suite(
  testPlane({
    runner: Layer.provideMerge(withLargeStates({ resources: 2000, outputs: 100 }), pureRunner(pureModules())),
    writer: transactions.layer
  }).pipe(
    Layer.provide(Layer.merge(Layer.succeed(Tracer.Tracer, tracer), Layer.succeed(References.TracerEnabled, true)))
  )
)
afterAll(tests.dispose)

const mostStatements = 50

tests.live(
  "an apply with 2000 objects and 100 Outputs takes at most 50 statements per transaction, and reads its state before",
  () =>
    Effect.gen(function* () {
      transactions.seen.statements = 0
      const { capsule } = yield* active("large", pureModule)
      yield* applied(yield* replanned(capsule.id))
      expect(transactions.seen.statements).toBeGreaterThan(20)
      expect(transactions.seen.statements).toBeLessThanOrEqual(mostStatements)
      expect(reads).toEqual({ all: 2, inTransaction: 0 })
    })
)
