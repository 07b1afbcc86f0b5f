import { expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AgentNonces } from "../../../../actors/running/agent-pool/AgentNonces.ts"
import { SharedDatabase } from "../../../../actors/base/node/Nodes.ts"
import { AgentId } from "../../../../schema/records/Ids.ts"
import { withoutForeignKeys } from "../../../support/Dialect.ts"
import { it } from "../../../support/Effect.ts"
import { on } from "../../base/node/support/Servers.ts"

const agent = AgentId.make(`agt_${"a".repeat(26)}`)
const other = AgentId.make(`agt_${"b".repeat(26)}`)

const server = (shared = true) =>
  Effect.map(
    Layer.build(Layer.fresh(AgentNonces.layer).pipe(Layer.provide(Layer.succeed(SharedDatabase, shared)))),
    (built) => Context.get(built, AgentNonces)
  )

const enrolled = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* withoutForeignKeys(sql)
  for (const id of [agent, other]) {
    yield* sql`INSERT INTO agents ${sql.insert({
      id,
      pool: "far",
      name: id,
      sign_key: id,
      seal_key: "k",
      facts: "{}",
      enrolment_token_id: "t",
      enrolled_at: "",
      last_contact_at: ""
    })}`
  }
})

it.effect(
  "every server accepts a nonce from another server, but only once and only from the agent that received the nonce",
  () =>
    on(
      Effect.gen(function* () {
        yield* enrolled
        const [one, two] = [yield* server(), yield* server()]
        const nonce = yield* one.make(agent)
        expect(yield* two.use(other, nonce)).toBe(false)
        expect(yield* two.use(agent, nonce)).toBe(true)
        expect(yield* one.use(agent, nonce)).toBe(false)
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`SELECT nonce_hash FROM agent_nonces`).toEqual([])
      })
    )
)

it.effect("a nonce expires, and is removed when the next nonce is created", () =>
  on(
    Effect.gen(function* () {
      yield* enrolled
      const sql = yield* SqlClient.SqlClient
      const one = yield* server()
      const [late, forgotten] = [yield* one.make(agent), yield* one.make(agent)]
      yield* TestClock.adjust("181 seconds")
      expect(yield* one.use(agent, late)).toBe(false)
      yield* one.make(agent)
      expect(yield* sql`SELECT nonce_hash FROM agent_nonces`).toHaveLength(1)
      expect(yield* one.use(agent, forgotten)).toBe(false)
    })
  )
)

it.effect("no nonce is stored for an agent that does not exist", () =>
  on(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const one = yield* server()
      expect(yield* one.use(agent, yield* one.make(agent))).toBe(false)
      expect(yield* sql`SELECT nonce_hash FROM agent_nonces`).toEqual([])
    })
  )
)

it.effect("a single server keeps nonces in memory for a minute", () =>
  on(
    Effect.gen(function* () {
      const one = yield* server(false)
      const [used, late] = [yield* one.make(agent), yield* one.make(agent)]
      expect(yield* one.use(agent, used)).toBe(true)
      expect(yield* one.use(agent, used)).toBe(false)
      yield* TestClock.adjust("61 seconds")
      expect(yield* one.use(agent, late)).toBe(false)
    })
  )
)
