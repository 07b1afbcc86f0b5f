import { afterAll } from "bun:test"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { begun, farPlane, world } from "../support/FarPlane.ts"

const logged: Array<string> = []
const log = Logger.make<unknown, void>(({ message }) => void logged.push(String(message)))

const tests = suite(farPlane.pipe(Layer.provide(Logger.layer([log]))))
afterAll(tests.dispose)

const isRetry = (line: string) => line.startsWith("The end of a preparation could not be recorded.")

tests.live("each attempt to record that a preparation failed is logged until the database accepts one", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const agent = yield* (yield* world).enrolled()
    yield* createTrigger(
      sql,
      "CREATE TRIGGER no_preparation BEFORE INSERT ON run_preparations BEGIN SELECT RAISE(ABORT, 'no preparation'); END"
    )
    yield* createTrigger(
      sql,
      "CREATE TRIGGER no_end BEFORE UPDATE OF ended_at ON agent_runs BEGIN SELECT RAISE(ABORT, 'no end'); END"
    )
    yield* begun("unprepared")
    yield* Effect.forkScoped(Effect.exit(agent.next(agent.claim())))
    yield* eventually(
      Effect.sync(() => logged.filter(isRetry).length),
      (count) => count > 1
    )
    yield* dropTrigger(sql, "no_end")
    const failed = sql`SELECT 1 AS one FROM runs WHERE type = 'plan' AND status = 'failed'`
    yield* eventually(failed, ({ length }) => length === 1)
  })
)
