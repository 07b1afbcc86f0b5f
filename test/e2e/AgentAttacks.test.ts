import { expect, setDefaultTimeout } from "bun:test"
import { generateKeyPairSync } from "node:crypto"
import { Context, Duration, Effect, type Redacted, Result } from "effect"
import { Agents } from "../../actors/running/agent-pool/Agents.ts"
import { Pools } from "../../actors/running/agent-pool/Pools.ts"
import { it } from "../support/Effect.ts"
import { agentClient, testAgent } from "../src/http/support/TestAgent.ts"
import { attackedServer, quietPlatform } from "./support/AttackedServer.ts"

setDefaultTimeout(60_000)

const version = "0.1.0"
const publicKey = (kind: "ed25519" | "x25519") => {
  const pair = kind === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")
  return String(pair.publicKey.export({ format: "jwk" }).x)
}
const newKeys = () => ({ sign: publicKey("ed25519"), seal: publicKey("x25519") })

it.live("an enrolment token enrols one agent, whose greeting is accepted once and only with that agent's keys", () =>
  Effect.gen(function* () {
    const server = yield* attackedServer()
    const pools = Context.get(server.services, Pools)
    yield* pools.create("first", {})
    yield* pools.create("second", {})
    const tokenOf = (pool: string, uses = 1) =>
      Effect.map(pools.token(pool, { uses, lifetime: Duration.hours(1) }), ({ secret }) => secret)
    const client = yield* agentClient(server.url)
    const agents = server.sql`SELECT id, pool, sign_key, seal_key, revoked_at FROM agents ORDER BY id`
    const enrol = (token: Redacted.Redacted, keys = newKeys()) =>
      Effect.result(client.Enrol({ token, name: "one", keys, facts }))
    const honest = yield* testAgent(server.url, yield* tokenOf("first"), { version })
    const { facts } = honest
    yield* honest.hello()

    // Eight connections enrol at once with the same token, each with different keys.
    const shared = yield* tokenOf("second")
    const raced = yield* Effect.all(
      Array.from({ length: 8 }, () => enrol(shared)),
      { concurrency: "unbounded" }
    )
    expect(raced.filter(Result.isSuccess)).toHaveLength(1)
    const before = yield* agents
    expect(before).toHaveLength(2)

    // Enrols with the public keys of an agent in another pool, unchanged or with one key replaced.
    const foreign = yield* tokenOf("second", 5)
    const { keys } = honest
    for (const stolen of [keys, { ...keys, seal: publicKey("x25519") }]) {
      expect(Result.isSuccess(yield* enrol(foreign, stolen))).toBe(false)
    }
    // The sealing key proves nothing. If an attacker presents another agent's sealing key, the server enrols a new agent that
    // cannot open its jobs.
    const borrowed = yield* enrol(foreign, { ...keys, sign: publicKey("ed25519") })
    expect(Result.isSuccess(borrowed) && String(borrowed.success.pool)).toBe("second")
    expect(Result.isSuccess(borrowed) && borrowed.success.agentId).not.toBe(honest.agentId)
    const after = yield* agents
    expect(after.filter(({ id }) => before.some((row) => row["id"] === id))).toEqual([...before])

    // Repeats an accepted greeting, and sends one greeting on two connections at once.
    const greet = Effect.gen(function* () {
      const { nonce } = yield* client.Challenge({ agentId: honest.agentId })
      const signature = honest.signed(nonce, facts)
      return client.Hello({ agentId: honest.agentId, nonce, signature, facts, held: [] })
    })
    const once = yield* greet
    expect(Result.isSuccess(yield* Effect.result(once))).toBe(true)
    expect(Result.isSuccess(yield* Effect.result(once))).toBe(false)
    const twice = yield* greet
    const both = yield* Effect.all(
      Array.from({ length: 6 }, () => Effect.result(twice)),
      { concurrency: "unbounded" }
    )
    expect(both.filter(Result.isSuccess)).toHaveLength(1)

    // A revoked agent cannot enrol again with its keys and a new token.
    yield* Context.get(server.services, Agents).revoke(honest.agentId)
    expect(Result.isSuccess(yield* enrol(yield* tokenOf("first"), keys))).toBe(false)
    expect(Result.isSuccess(yield* Effect.result(Effect.flatten(greet)))).toBe(false)
    // The server also rejects a greeting that was prepared before the revocation.
    expect(Result.isSuccess(yield* Effect.result(twice))).toBe(false)
  }).pipe(Effect.provide(quietPlatform))
)
