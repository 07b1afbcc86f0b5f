import { createHash, randomBytes } from "node:crypto"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AgentId } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { table } from "../../base/database/Table.ts"
import { withoutWriteLock } from "../../base/database/WriteLock.ts"
import { now } from "../../base/Identity.ts"
import { monotonicNow, seconds } from "../../base/MonotonicNow.ts"
import { SharedDatabase } from "../../base/node/Nodes.ts"

const nonceSeconds = 60
const mostNonces = 10_000
/**
 * Maximum difference between the clocks of two servers, in milliseconds. If the clocks differ by more, the servers reject
 * each other's nonces.
 */
const clockDifferenceMillis = 120_000

/** Nonces that agents have not signed yet. Only their digests are stored. */
export const AgentNonceRow = table("agent_nonces", {
  nonce_hash: Schema.String,
  agent_id: AgentId,
  expires_at: Timestamp
})

/**
 * The nonces that agents sign to prove their identity. Each nonce can be used once. A single server keeps nonces in memory.
 * Servers that share a database keep them in rows, because an agent may request a nonce from one server and sign in to
 * another.
 */
export class AgentNonces extends Context.Service<
  AgentNonces,
  {
    readonly make: (agentId: AgentId) => Effect.Effect<string>
    /** Consumes a nonce. Returns false if the nonce is unknown, already used, too old, or was issued to another agent. */
    readonly use: (agentId: AgentId, nonce: string) => Effect.Effect<boolean>
  }
>()("svc/actors/running/agent-pool/AgentNonces") {
  static readonly layer = Layer.effect(
    AgentNonces,
    Effect.gen(function* () {
      return (yield* SharedDatabase) ? yield* inRows : inMemory()
    })
  )
}

const newNonce = () => randomBytes(32).toString("base64url")

const inMemory = () => {
  const nonceLife = seconds(nonceSeconds)
  const nonces = new Map<string, { readonly agentId: AgentId; readonly at: bigint }>()
  return AgentNonces.of({
    make: Effect.fnUntraced(function* (agentId) {
      const at = yield* monotonicNow
      for (const [old, { at: made }] of nonces) {
        if (at - made < nonceLife && nonces.size < mostNonces) break
        nonces.delete(old)
      }
      const nonce = newNonce()
      nonces.set(nonce, { agentId, at })
      return nonce
    }),
    use: Effect.fnUntraced(function* (agentId, nonce) {
      const given = nonces.get(nonce)
      nonces.delete(nonce)
      return given !== undefined && given.agentId === agentId && (yield* monotonicNow) - given.at <= nonceLife
    })
  })
}

const inRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const hashOf = (nonce: string) => createHash("sha256").update(nonce).digest("hex")

  const make = Effect.fnUntraced(function* (agentId: AgentId) {
    const nonce = newNonce()
    const at = yield* now
    const expires_at = new Date((yield* Clock.currentTimeMillis) + nonceSeconds * 1000 + clockDifferenceMillis)
    const row = { nonce_hash: hashOf(nonce), agent_id: agentId, expires_at: expires_at.toISOString() }
    yield* withoutWriteLock(sql`DELETE FROM agent_nonces WHERE expires_at <= ${at}`)
    // Anyone can request nonces, so svc stores nothing for an agent that does not exist.
    yield* withoutWriteLock(sql`INSERT INTO agent_nonces (nonce_hash, agent_id, expires_at)
      SELECT ${row.nonce_hash}, id, ${row.expires_at} FROM agents WHERE id = ${agentId}`)
    return nonce
  }, Effect.orDie)

  const use = Effect.fnUntraced(function* (agentId: AgentId, nonce: string) {
    const at = yield* now
    const used = yield* withoutWriteLock(
      AgentNonceRow.some(sql, "expires_at")`DELETE FROM agent_nonces
        WHERE nonce_hash = ${hashOf(nonce)} AND agent_id = ${agentId} RETURNING expires_at`
    )
    return used.some(({ expires_at }) => expires_at > at)
  }, Effect.orDie)

  return AgentNonces.of({ make, use })
})
