import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { isSignedBy } from "../../../runner/agent/AgentKeyPair.ts"
import { type AgentFacts, type AgentKeys } from "../../../schema/agent/AgentIdentity.ts"
import { helloText } from "../../../schema/agent/AgentProtocol.ts"
import type { ProvidedMark } from "../../../schema/agent/ProvidedMark.ts"
import { type AgentRefusal, Rejected, Unauthorised, UpgradeRequired } from "../../../schema/agent/AgentRefusal.ts"
import type { PoolName } from "../../../schema/agent/PoolName.ts"
import { AgentId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { isWellFormed, mintSecret, secretHash } from "../../base/credential/BearerSecret.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { lackOf } from "./AgentFit.ts"
import { AgentNonces } from "./AgentNonces.ts"
import { AgentPresence } from "./AgentPresence.ts"
import { ServerRelease, versionProblem } from "./AgentVersions.ts"
import { AgentRow, AgentSessionRow, EnrolmentTokenRow, FactsJson, KeysJson, PoolRow } from "./PoolRows.ts"
import { ProvidedMarks } from "./ProvidedMarks.ts"
import { isAgentHeld } from "./RestoredAgents.ts"
import { ServerKeys } from "./ServerKeys.ts"
import { currentAgent } from "./CurrentAgent.ts"

export const sessionSeconds = 600

/** An agent that has proven its identity. */
export interface AgentSession {
  readonly agent: AgentRow
  readonly facts: AgentFacts
  readonly incarnation: string
}

interface Greeting {
  readonly agentId: AgentId
  readonly nonce: string
  readonly signature: string
  readonly facts: AgentFacts
  readonly nextKeys?: AgentKeys | undefined
  readonly providedMarks?: ReadonlyArray<ProvidedMark> | undefined
}

const unknown = (message: string, retry = false) => new Unauthorised({ message, retry })

/** Enrols agents and manages their sessions. */
export class AgentSessions extends Context.Service<
  AgentSessions,
  {
    readonly challenge: (agentId: AgentId) => Effect.Effect<{ readonly nonce: string }>
    readonly enrol: (enrolment: {
      readonly token: Redacted.Redacted
      readonly name: string
      readonly keys: AgentKeys
      readonly facts: AgentFacts
    }) => Effect.Effect<
      {
        readonly agentId: AgentId
        readonly pool: PoolName
        readonly server: AgentKeys
        readonly installationId: string
      },
      AgentRefusal
    >
    readonly begin: (
      greeting: Greeting
    ) => Effect.Effect<{ readonly session: AgentSession; readonly secret: Redacted.Redacted }, AgentRefusal>
    /** Fails if agents of the session's release must not receive new Runs. Runs in progress continue. */
    readonly mayTakeRuns: (session: Pick<AgentSession, "facts">) => Effect.Effect<void, UpgradeRequired>
    /** Returns the session for a bearer token. */
    readonly of: (secret: string | undefined) => Effect.Effect<AgentSession, Unauthorised>
    /** Returns false if the agent has been revoked, or has changed its keys, since the session began. */
    readonly stands: (session: AgentSession) => Effect.Effect<boolean>
    /**
     * Updates the facts that the agent reports when it renews its leases. Writes changed facts at once, and unchanged ones twice
     * a minute.
     */
    readonly described: (session: AgentSession, said: Pick<AgentFacts, "disk" | "draining">) => Effect.Effect<void>
    /** Called when the process of this session exits. The agent is then no longer connected, unless it has another process. */
    readonly leave: (session: AgentSession) => Effect.Effect<void>
  }
>()("svc/actors/running/agent-pool/AgentSessions") {
  static readonly layer = Layer.effect(
    AgentSessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const presence = yield* AgentPresence
      const release = yield* ServerRelease
      const server = yield* ServerKeys
      const marks = yield* ProvidedMarks
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
      const nonces = yield* AgentNonces

      const challenge = Effect.fn("AgentSessions.challenge")(function* (agentId: AgentId) {
        return { nonce: yield* nonces.make(agentId) }
      })

      const spoken = Effect.fnUntraced(function* (facts: AgentFacts) {
        const problem = versionProblem(release, facts)
        if (problem?.speaks === false) return yield* new UpgradeRequired({ message: problem.message })
      })

      const mayTakeRuns = Effect.fnUntraced(function* ({ facts }: Pick<AgentSession, "facts">) {
        const problem = versionProblem(release, facts)
        if (problem !== undefined) return yield* new UpgradeRequired({ message: problem.message })
      })

      const poolOf = Effect.fnUntraced(function* (name: PoolName, facts: AgentFacts) {
        const [pool] = yield* Effect.orDie(
          PoolRow.rows(sql)`SELECT * FROM agent_pools WHERE name = ${name} AND archived_at IS NULL`
        )
        if (pool === undefined) return yield* unknown(`There is no pool ${name} any more.`)
        const need = { tool: {}, isolation: pool.isolation ?? undefined }
        // Ignores tools, because a missing tool may be installed later. Insufficient isolation is an error, because the agent
        // must not execute the pool's Runs.
        const lack = lackOf({ ...facts, tools: [{ name: "opentofu", version: "0" }] }, need)
        if (lack !== undefined) {
          return yield* new Rejected({
            message: `Agents of the pool ${name} need the ${lack.property} ${lack.needed} at the least, and this machine gives ${facts.isolation}.`
          })
        }
        return pool
      })

      const enrol = Effect.fn("AgentSessions.enrol")(
        function* (enrolment: {
          readonly token: Redacted.Redacted
          readonly name: string
          readonly keys: AgentKeys
          readonly facts: AgentFacts
        }) {
          const { facts, keys, name, token } = enrolment
          yield* mayTakeRuns({ facts })
          const { installationId, keys: ownKeys } = yield* server.own
          const isToken = isWellFormed("agentEnrolment", Redacted.value(token))
          const [found] = isToken
            ? yield* Effect.orDie(EnrolmentTokenRow.rows(sql)`SELECT * FROM agent_enrolment_tokens
              WHERE secret_hash = ${secretHash(token)}`)
            : []
          const at = yield* now
          if (found === undefined) return yield* unknown("The enrolment token is not known.")
          const [known] = yield* Effect.orDie(AgentRow.rows(sql)`SELECT * FROM agents WHERE sign_key = ${keys.sign}`)
          if (known !== undefined) {
            const isSame =
              known.seal_key === keys.seal && known.enrolment_token_id === found.id && known.revoked_at === null
            if (!isSame) return yield* unknown("These keys are enrolled already, or revoked. Make new ones.")
            return { agentId: known.id, pool: known.pool, server: ownKeys, installationId }
          }
          if (found.revoked_at !== null) return yield* unknown("The enrolment token is revoked.")
          if (found.expires_at <= at) return yield* unknown("The enrolment token has expired.")
          if (found.uses_left < 1) return yield* unknown("The enrolment token has been used.")
          yield* poolOf(found.pool, facts)
          const agentId = yield* newId(AgentId, "agt")
          yield* Effect.orDie(sql`UPDATE agent_enrolment_tokens SET uses_left = uses_left - 1 WHERE id = ${found.id}`)
          yield* Effect.orDie(
            sql`INSERT INTO agents ${AgentRow.values(sql, {
              id: agentId,
              pool: found.pool,
              name,
              sign_key: keys.sign,
              seal_key: keys.seal,
              facts: FactsJson.write(facts),
              enrolment_token_id: found.id,
              enrolled_at: at,
              last_contact_at: at
            })}`
          )
          yield* audit.append({
            workspaceId: null,
            actor: serviceContext.actor,
            action: "agent.enrol",
            target: { kind: "agent", id: agentId },
            data: { pool: found.pool, name, token: found.id }
          })
          return { agentId, pool: found.pool, server: ownKeys, installationId }
        },
        withRandom,
        transaction(sql)
      )

      /** Verifies a signature with the agent's current or announced key. `rotated` is set if the announced key was used. */
      const proven = Effect.fnUntraced(function* (agent: AgentRow, text: string, signature: string) {
        const none = { isProven: false, rotated: undefined }
        if (yield* isSignedBy(agent.sign_key, text, signature)) return { isProven: true, rotated: undefined }
        if (agent.next_keys === null) return none
        const rotated = KeysJson.read(agent.next_keys)
        return (yield* isSignedBy(rotated.sign, text, signature)) ? { isProven: true, rotated } : none
      })

      /** Fails if another agent already has this key. */
      const notOfAnother = Effect.fnUntraced(function* (agentId: AgentId, { sign }: AgentKeys) {
        const [other] = yield* Effect.orDie(
          AgentRow.some(sql, "id")`SELECT id FROM agents WHERE sign_key = ${sign} AND id <> ${agentId}`
        )
        if (other !== undefined)
          return yield* new Rejected({ message: "These keys are enrolled already. Make new ones." })
      })

      /**
       * Returns true if another process of the agent is accepting Runs. If so, a draining process must not update the
       * agent's facts.
       */
      const isSpokenFor = Effect.fnUntraced(function* (agentId: AgentId, draining: boolean) {
        if (!draining) return false
        const [other] = yield* AgentSessionRow.some(sql, "incarnation")`SELECT incarnation FROM agent_sessions
          WHERE agent_id = ${agentId} AND draining = 0 LIMIT 1`
        return other !== undefined
      })

      const begin = Effect.fn("AgentSessions.begin")(function* (greeting: Greeting) {
        const { agentId, facts, nextKeys, nonce, providedMarks = [], signature } = greeting
        const { incarnation } = facts
        if (!(yield* nonces.use(agentId, nonce))) {
          return yield* unknown("The nonce is not of this server, was used, or is too old. Ask for another.", true)
        }
        const [agent] = yield* Effect.orDie(AgentRow.rows(sql)`SELECT * FROM agents WHERE id = ${agentId}`)
        if (agent === undefined || agent.revoked_at !== null) {
          if (yield* isAgentHeld(sql, agentId)) {
            return yield* unknown(
              "The server was restored from a backup, and its operator has to confirm this agent: svc admin restore-review. The agent keeps what it holds.",
              true
            )
          }
          return yield* unknown("The agent is not known, or it was revoked. Enrol it again.")
        }
        const { installationId } = yield* server.own
        const text = helloText({ agentId, incarnation, nonce, installationId, nextKeys })
        const { isProven, rotated } = yield* proven(agent, text, signature)
        if (!isProven) return yield* unknown("The signature is not by the key of this agent.")
        yield* spoken(facts)
        yield* poolOf(agent.pool, facts)
        for (const keys of [nextKeys, rotated]) if (keys !== undefined) yield* notOfAnother(agentId, keys)
        const secret = yield* mintSecret("agentSession")
        const at = yield* now
        const columns = {
          ...(rotated === undefined ? {} : { sign_key: rotated.sign, seal_key: rotated.seal, next_keys: null }),
          ...(nextKeys === undefined ? {} : { next_keys: KeysJson.write(nextKeys) }),
          last_contact_at: at
        }
        const provided = yield* marks.keyed(providedMarks)
        const expiresAt = new Date((yield* Clock.currentTimeMillis) + sessionSeconds * 1000).toISOString()
        const isReplaced = yield* Effect.gen(function* () {
          // Using new keys revokes every session that began with the old keys. A draining process then has to start a new
          // session.
          yield* sql`DELETE FROM agent_sessions WHERE expires_at <= ${at} OR (agent_id = ${agentId}
              AND (${rotated === undefined ? 0 : 1} = 1 OR incarnation = ${incarnation}
                OR (draining = 0 AND ${facts.draining ? 0 : 1} = 1)))`
          const speaks = !(yield* isSpokenFor(agentId, facts.draining))
          const spoken = speaks ? { facts: FactsJson.write(facts) } : {}
          // Compares the key again, because another process of the agent may have changed it, or an operator may have revoked the
          // agent.
          const changed = yield* sql`UPDATE agents SET ${AgentRow.changes(sql, { ...columns, ...spoken })}
              WHERE id = ${agentId} AND sign_key = ${agent.sign_key} AND revoked_at IS NULL RETURNING id`
          if (changed.length === 0) return yield* unknown("The agent has changed since. Start again.", true)
          if (rotated !== undefined) {
            yield* audit.append({
              workspaceId: null,
              actor: serviceContext.actor,
              action: "agent.rotate_keys",
              target: { kind: "agent", id: agentId },
              data: { pool: agent.pool, name: agent.name }
            })
          }
          yield* sql`INSERT INTO agent_sessions ${AgentSessionRow.values(sql, {
            secret_hash: secretHash(secret),
            agent_id: agentId,
            incarnation,
            draining: facts.draining ? 1 : 0,
            created_at: at,
            expires_at: expiresAt
          })}`
          return speaks && (yield* marks.told(agentId, provided))
        }).pipe(transaction(sql))
        if (isReplaced) yield* marks.voidReplaced
        yield* presence.heard(agentId)
        return { session: { agent: { ...agent, ...columns }, facts, incarnation }, secret }
      }, withRandom)

      const of = Effect.fnUntraced(function* (secret: string | undefined) {
        if (secret === undefined || !isWellFormed("agentSession", secret)) {
          return yield* unknown("The request carries no session.", true)
        }
        const hash = secretHash(Redacted.make(secret))
        const [session] = yield* Effect.orDie(
          AgentSessionRow.rows(sql)`SELECT * FROM agent_sessions WHERE secret_hash = ${hash}`
        )
        const [agent] =
          session === undefined
            ? []
            : yield* Effect.orDie(
                AgentRow.rows(sql)`SELECT * FROM agents WHERE id = ${session.agent_id} AND revoked_at IS NULL`
              )
        if (session === undefined || agent === undefined || session.expires_at <= (yield* now)) {
          return yield* unknown("The session is over. Begin another.", true)
        }
        yield* presence.heard(agent.id)
        const facts = { ...FactsJson.read(agent.facts), draining: session.draining === 1 }
        return { agent, facts, incarnation: session.incarnation }
      })

      const described = Effect.fnUntraced(function* (
        { agent, facts, incarnation }: AgentSession,
        { disk, draining }: Pick<AgentFacts, "disk" | "draining">
      ) {
        const isNews = facts.draining !== draining || facts.disk.low !== disk.low
        const at = yield* now
        if (!isNews && Date.parse(at) - Date.parse(agent.last_contact_at) < 30_000) return
        yield* Effect.gen(function* () {
          yield* sql`UPDATE agent_sessions SET draining = ${draining ? 1 : 0}
            WHERE agent_id = ${agent.id} AND incarnation = ${incarnation}`
          const said = { facts: FactsJson.write({ ...facts, disk, draining }) }
          const columns = { last_contact_at: at, ...((yield* isSpokenFor(agent.id, draining)) ? {} : said) }
          yield* sql`UPDATE agents SET ${AgentRow.changes(sql, columns)} WHERE id = ${agent.id}`
        }).pipe(transaction(sql))
      })

      const leave = Effect.fn("AgentSessions.leave")(function* ({ agent: { id }, incarnation }: AgentSession) {
        yield* sql`DELETE FROM agent_sessions WHERE agent_id = ${id} AND incarnation = ${incarnation}`
        const [other] = yield* AgentSessionRow.some(sql, "incarnation")`SELECT incarnation FROM agent_sessions
          WHERE agent_id = ${id} AND expires_at > ${yield* now} LIMIT 1`
        if (other === undefined) yield* sql.afterCommit(presence.left(id))
      }, transaction(sql))

      const stands = ({ agent }: AgentSession) =>
        Effect.map(currentAgent(sql, agent), (present) => present !== undefined)

      return AgentSessions.of({ challenge, enrol, begin, mayTakeRuns, of, stands, described, leave })
    })
  )
}
