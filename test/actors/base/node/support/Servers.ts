import { Context, Effect, Layer, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ExclusiveWork } from "../../../../../actors/base/node/ExclusiveWork.ts"
import { Nodes, SharedDatabase } from "../../../../../actors/base/node/Nodes.ts"
import type { Commits } from "../../../../../actors/base/database/Commits.ts"
import { RowChecks } from "../../../../../actors/base/database/Table.ts"
import { migrate } from "../../../../../src/database/Migrations.ts"
import { layerWriter } from "../../../../../src/database/SqliteClient.ts"
import { temporaryFolder } from "../../../../support/TemporaryFolder.ts"

/**
 * Starts a server, which by default shares its database with others. It writes heartbeats only when the test requests them.
 */
export const server = (
  shared = true
): Effect.Effect<
  { readonly nodes: Nodes["Service"]; readonly exclusive: ExclusiveWork["Service"] },
  never,
  Scope.Scope | SqlClient.SqlClient
> =>
  Effect.gen(function* () {
    const built = yield* Layer.build(
      Layer.fresh(ExclusiveWork.layer.pipe(Layer.provideMerge(Nodes.layer))).pipe(
        Layer.provide(Layer.succeed(SharedDatabase, shared))
      )
    )
    return { nodes: Context.get(built, Nodes), exclusive: Context.get(built, ExclusiveWork) }
  })

/** Advances the clock in steps of one heartbeat. In each step, the given servers write a heartbeat. */
export const pass = Effect.fnUntraced(function* (
  seconds: number,
  ...living: ReadonlyArray<{ readonly nodes: Nodes["Service"] }>
) {
  for (let passed = 0; passed < seconds; passed += 2) {
    yield* TestClock.adjust("2 seconds")
    for (const { nodes } of living) yield* nodes.turn
  }
})

/**
 * Runs the effect on a new database and passes the database's file name to the effect. Always uses the embedded database,
 * because the tests use a simulated clock, whereas a database in another process runs in real time.
 */
export const onFile = <A, E>(
  effect: (file: string) => Effect.Effect<A, E, SqlClient.SqlClient | Commits | Scope.Scope>
) =>
  Effect.scoped(
    Effect.flatMap(temporaryFolder, (folder) => {
      const file = `${folder}/svc.db`
      const database = Layer.effectDiscard(migrate).pipe(Layer.provideMerge(layerWriter(file)))
      return Effect.provide(Effect.scoped(effect(file)), Layer.merge(database, Layer.succeed(RowChecks, true)))
    })
  )

export const on = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient | Commits | Scope.Scope>) =>
  onFile(() => effect)
