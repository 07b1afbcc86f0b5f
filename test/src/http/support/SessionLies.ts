import { randomBytes } from "node:crypto"
import { expect } from "bun:test"
import { Duration, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import type { RunId } from "../../../../schema/records/Ids.ts"
import { settled } from "../../../support/Journey.ts"
import { begun, offerTo, world } from "./FarPlane.ts"
import { greeting, notOwn, refused, type Tag, type Told } from "./LieScene.ts"
import { testAgent } from "./TestAgent.ts"

/** False messages that an agent may send before it holds a Run. */
export const sessionLies = {
  Challenge: {
    malformed: [() => ({ agentId: "agt_../../x" }), () => ({})],
    lies: [
      {
        name: "the nonce of one agent is not good for another",
        tell: Effect.fnUntraced(function* ({ honest, liar }) {
          const { nonce } = yield* liar.client.Challenge({ agentId: honest.agentId })
          const signature = liar.signed(nonce, liar.facts)
          const said = { agentId: liar.agentId, nonce, signature, facts: liar.facts, held: [] }
          yield* refused(liar.client.Hello(said), "Unauthorised")
        })
      }
    ]
  },
  Enrol: {
    malformed: [
      ({ liar }) => ({ token: "x", name: "../x", keys: liar.keys, facts: liar.facts }),
      ({ liar }) => ({ token: "x", name: "x", keys: { sign: "short", seal: "short" }, facts: liar.facts }),
      ({ liar }) => ({ token: "x", name: "x", keys: liar.keys, facts: { ...liar.facts, places: 1e9 } }),
      ({ liar }) => ({ token: "x", name: "x", keys: liar.keys, facts: { ...liar.facts, hostname: "x".repeat(300) } }),
      ({ liar }) => ({ token: "x", name: "x", keys: liar.keys, facts: { ...liar.facts, provided: ["../x"] } })
    ],
    lies: [
      {
        name: "a token is good for its pool and its uses, and the request names neither",
        tell: Effect.fnUntraced(function* ({ liar }) {
          const { pools } = yield* world
          const { id, secret } = yield* pools.token("far", { uses: 2, lifetime: Duration.hours(1) })
          const keysOf = () => ({ sign: randomBytes(32).toString("base64url"), seal: liar.keys.seal })
          const said = { token: Redacted.value(secret), name: "x", facts: liar.facts, pool: "near", uses: 99 }
          const enrolled = yield* liar.unchecked("Enrol", { ...said, keys: keysOf() })
          expect(enrolled.text).toContain('"pool":"far"')
          yield* liar.client.Enrol({ token: secret, name: "x", keys: keysOf(), facts: liar.facts })
          yield* refused(
            liar.client.Enrol({ token: secret, name: "x", keys: keysOf(), facts: liar.facts }),
            "Unauthorised"
          )
          const sql = yield* SqlClient.SqlClient
          // The server stores only the digest of the token's secret.
          const [row] = yield* sql<{ row: string }>`SELECT id || ' ' || pool || ' ' || secret_hash AS row
            FROM agent_enrolment_tokens WHERE id = ${id}`
          expect(row?.row).not.toContain(Redacted.value(secret))
        })
      },
      {
        name: "the keys of another agent are not enrolled again, with whatever token",
        tell: Effect.fnUntraced(function* ({ honest, liar }) {
          const { pools } = yield* world
          const { secret } = yield* pools.token("near", { uses: 1, lifetime: Duration.hours(1) })
          const { facts, keys } = honest
          yield* refused(liar.client.Enrol({ token: secret, name: "x", keys, facts }), "Unauthorised")
        })
      },
      {
        name: "a machine below the pool's isolation, and one that speaks another protocol, do not enrol",
        tell: Effect.fnUntraced(function* ({ liar }) {
          const { origin, pools } = yield* world
          const { secret } = yield* pools.token("near", { uses: 1, lifetime: Duration.hours(1) })
          yield* refused(testAgent(origin, secret, { isolation: "process" }), "Rejected")
          yield* refused(testAgent(origin, secret, { protocol: 99 }), "UpgradeRequired")
          const token = Redacted.make(`${Redacted.value(secret).slice(0, -2)}xx`)
          const keys = { sign: randomBytes(32).toString("base64url"), seal: liar.keys.seal }
          yield* refused(liar.client.Enrol({ token, name: "x", keys, facts: liar.facts }), "Unauthorised")
        })
      }
    ]
  },
  Hello: {
    malformed: [
      ({ liar }) => ({ agentId: liar.agentId, nonce: 1, signature: "AA", facts: liar.facts, held: [] }),
      ({ liar }) => ({ agentId: liar.agentId, nonce: "x", signature: "x".repeat(500), facts: liar.facts, held: [] }),
      ({ liar }) => ({
        agentId: liar.agentId,
        nonce: "x",
        signature: "AA",
        facts: liar.facts,
        held: [],
        providedMarks: [{ name: "cloud", mark: "a value" }]
      }),
      ({ liar, own }) => ({
        agentId: liar.agentId,
        nonce: "x",
        signature: "AA",
        facts: liar.facts,
        held: Array.from({ length: 1025 }, () => ({ ...own, stage: "accepted" }))
      })
    ],
    lies: [
      {
        name: "a signature that was heard is not good again, nor for another process",
        tell: Effect.fnUntraced(function* ({ liar }) {
          const said = yield* greeting(liar)
          yield* liar.client.Hello(said)
          yield* refused(liar.client.Hello(said), "Unauthorised")
          const other = yield* greeting(liar)
          const facts = { ...other.facts, incarnation: "f".repeat(32) }
          yield* refused(liar.client.Hello({ ...other, facts }), "Unauthorised")
        })
      },
      {
        name: "one agent does not greet in the name of another",
        tell: Effect.fnUntraced(function* ({ honest, liar }) {
          const { nonce } = yield* liar.client.Challenge({ agentId: honest.agentId })
          const said = { ...(yield* greeting(liar)), agentId: honest.agentId, nonce }
          yield* refused(liar.client.Hello(said), "Unauthorised")
        })
      },
      {
        name: "a Run that it says it holds does not become its own, nor begin again",
        tell: Effect.fnUntraced(function* (scene) {
          const { orders } = yield* scene.liar.hello(
            notOwn(scene).map((claim) => ({ ...claim, stage: "left" as const }))
          )
          for (const { order } of orders) expect(order).not.toBe("continue")
          expect(orders.some((order) => "leaseSeconds" in order)).toBe(false)
        })
      },
      {
        name: "an agent that was revoked begins no session",
        tell: Effect.fnUntraced(function* () {
          const { enrolled } = yield* world
          const agent = yield* enrolled()
          const said = yield* greeting(agent)
          yield* (yield* Agents).revoke(agent.agentId)
          yield* refused(agent.client.Hello(said), "Unauthorised")
          yield* refused(agent.next(agent.claim()), "Unauthorised")
        })
      }
    ]
  },
  Next: {
    malformed: [() => ({ claim: "../../x", freePlaces: 1 }), () => ({ claim: "0".repeat(32), freePlaces: "many" })],
    lies: [
      {
        name: "an agent of another pool is offered nothing of this one",
        tell: Effect.fnUntraced(function* ({ stranger }) {
          yield* begun("for-the-far-pool", { "far.md": "far" })
          const { enrolled } = yield* world
          const taker = yield* enrolled()
          const { offer } = yield* offerTo(taker)
          yield* taker.as(taker.client.Decline({ runId: offer.runId, fence: offer.fence, reason: "for somebody else" }))
          const sql = yield* SqlClient.SqlClient
          const nothing = stranger.next(stranger.claim()).pipe(Effect.timeoutOption("1 second"))
          expect((yield* nothing)._tag).toBe("None")
          expect(yield* sql`SELECT 1 AS one FROM agent_runs WHERE agent_id = ${stranger.agentId}`).toEqual([])
        })
      },
      {
        name: "free places that it does not have give it no more Runs than it could have",
        tell: Effect.fnUntraced(function* () {
          const { enrolled } = yield* world
          const hoarder = yield* enrolled({ places: 1 })
          const taken: Array<{ readonly runId: RunId; readonly fence: number }> = []
          for (const at of [1, 2]) {
            yield* begun(`hoarded-${at}`, { "hoarded.md": String(at) })
            const { offer } = yield* offerTo(hoarder)
            taken.push({ runId: offer.runId, fence: offer.fence })
            yield* hoarder.as(hoarder.client.Accept({ runId: offer.runId, fence: offer.fence }))
          }
          yield* begun("hoarded-3", { "hoarded.md": "3" })
          const other = yield* enrolled()
          const { offer } = yield* offerTo(other)
          const back = { runId: offer.runId, fence: offer.fence, reason: "for somebody else" }
          yield* other.as(other.client.Decline(back))
          const asked = hoarder.as(hoarder.client.Next({ claim: hoarder.claim(), freePlaces: 256 }))
          expect((yield* Effect.timeoutOption(asked, "1 second"))._tag).toBe("None")
          const stopped = runnerFailure("killed", "plan", "It was stopped.")
          for (const claim of taken) {
            yield* hoarder.finish(claim, { kind: "plan", status: "failed", failure: stopped }, { lastBatch: 0 })
          }
          // The agent frees its slots by delivering its results.
          const { offer: last } = yield* offerTo(hoarder)
          expect(last.runId).toBe(offer.runId)
          const { offer: rest } = yield* offerTo(other)
          for (const [agent, { fence, runId }] of [
            [hoarder, last],
            [other, rest]
          ] as const) {
            yield* agent.as(agent.client.Accept({ runId, fence }))
            const result = { kind: "plan", status: "failed", failure: stopped } as const
            yield* agent.finish({ runId, fence }, result, { lastBatch: 0 })
            yield* settled(runId)
          }
          for (const { runId } of taken) yield* settled(runId)
        })
      },
      {
        name: "without a session, or with a made-up one, nothing is offered",
        tell: Effect.fnUntraced(function* ({ liar }) {
          for (const authorization of ["", "Bearer made-up", "Basic eDp5"]) {
            const { text: said } = yield* liar.unchecked(
              "Next",
              { claim: liar.claim(), freePlaces: 1 },
              { authorization }
            )
            expect(said).toContain("Unauthorised")
          }
        })
      }
    ]
  }
} satisfies Partial<Readonly<Record<Tag, Told>>>
