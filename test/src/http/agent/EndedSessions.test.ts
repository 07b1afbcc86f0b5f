import { afterAll, expect } from "bun:test"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { RpcClient } from "effect/rpc"
import { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import { newKeys, signedBy, type StoredKeys } from "../../../../runner/agent/AgentKeyPair.ts"
import type { AgentFacts } from "../../../../schema/agent/AgentIdentity.ts"
import { helloText } from "../../../../schema/agent/AgentProtocol.ts"
import { suite } from "../../../support/Effect.ts"
import { begun, farPlane, world } from "../support/FarPlane.ts"
import { agentClient, machineFacts } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const incarnations = { one: "1".repeat(32), two: "2".repeat(32), thief: "3".repeat(32) }

/** Enrols an agent. The test sets the keys of the agent and the process that starts its session. */
const enrolledAgent = Effect.gen(function* () {
  const { origin, pools } = yield* world
  const keys = yield* newKeys
  const client = yield* agentClient(origin)
  const { secret } = yield* pools.token("far", { uses: 1, lifetime: Duration.hours(1) })
  const enrolled = yield* client.Enrol({ token: secret, name: "one", keys: keys.public, facts: machineFacts })
  const { agentId, installationId } = enrolled

  const begin = Effect.fnUntraced(function* (signer: StoredKeys, said: Partial<AgentFacts>, next?: StoredKeys) {
    const facts = { ...machineFacts, ...said }
    const { incarnation } = facts
    const { nonce } = yield* client.Challenge({ agentId })
    const nextKeys = next?.public
    const text = helloText({ agentId, incarnation, nonce, installationId, nextKeys })
    const signature = yield* signedBy(signer, text)
    const more = nextKeys === undefined ? {} : { nextKeys }
    const { session } = yield* client.Hello({ agentId, nonce, signature, facts, held: [], ...more })
    const as = RpcClient.withHeaders({ authorization: `Bearer ${Redacted.value(session)}` })
    return {
      renewed: as(client.Renew({ held: [], disk: facts.disk, draining: facts.draining })),
      left: as(client.Renew({ held: [], disk: facts.disk, draining: true, leaving: true })),
      next: as(client.Next({ claim: incarnation, freePlaces: 1 }))
    }
  })
  return { agentId, begin, keys }
})

const over = { _tag: "Unauthorised", retry: true }

plane.live(
  "adopting new keys ends every session that used the former keys, and every request waiting in those sessions",
  () =>
    Effect.gen(function* () {
      const { begin, keys } = yield* enrolledAgent
      const next = yield* newKeys
      const draining = yield* begin(keys, { incarnation: incarnations.one, draining: true })
      const former = yield* begin(keys, { incarnation: incarnations.two })
      // A process that claims to be draining keeps its session, so anybody with the former keys could also keep a session.
      const stolen = yield* begin(keys, { incarnation: incarnations.thief, draining: true })
      yield* begin(keys, { incarnation: incarnations.two }, next)
      for (const session of [draining, stolen]) yield* session.renewed
      const announced = yield* begin(keys, { incarnation: incarnations.two }, next)
      const polls = yield* Effect.forEach([announced], (session) =>
        Effect.forkChild(session.next, { startImmediately: true })
      )
      const present = yield* begin(next, { incarnation: incarnations.two })
      for (const session of [draining, former, stolen, announced]) {
        expect(yield* Effect.flip(session.renewed)).toMatchObject(over)
      }
      yield* present.renewed
      // svc seals jobs for the keys of the session.
      yield* begun("after-the-new-keys")
      for (const poll of polls) expect((yield* Fiber.join(poll)).offer).toBeUndefined()
      expect((yield* present.next).offer).toBeDefined()
      // The draining process reads the new keys from its disk and continues.
      const again = yield* begin(next, { incarnation: incarnations.one, draining: true })
      yield* again.renewed
      yield* present.renewed
    })
)

plane.live("an agent counts as disconnected once its last process reports that it is exiting", () =>
  Effect.gen(function* () {
    const { agentId, begin, keys } = yield* enrolledAgent
    const status = Effect.map(
      Effect.flatMap(Agents, ({ list }) => list()),
      (agents) => agents.find(({ id }) => id === agentId)?.status
    )
    const draining = yield* begin(keys, { incarnation: incarnations.one, draining: true })
    const present = yield* begin(keys, { incarnation: incarnations.two })
    yield* draining.left
    expect(yield* status).toBe("connected")
    expect(yield* Effect.flip(draining.renewed)).toMatchObject(over)
    yield* present.renewed
    yield* present.left
    expect(yield* status).toBe("silent")
    expect(yield* Effect.flip(present.renewed)).toMatchObject(over)
    expect(yield* status).toBe("silent")
    yield* begin(keys, { incarnation: incarnations.two })
    expect(yield* status).toBe("connected")
  })
)

plane.live("revoking an agent ends its session, and the waiting requests receive nothing", () =>
  Effect.gen(function* () {
    const { agentId, begin, keys } = yield* enrolledAgent
    const draining = yield* begin(keys, { incarnation: incarnations.one, draining: true })
    const session = yield* begin(keys, { incarnation: incarnations.two })
    const poll = yield* Effect.forkChild(session.next, { startImmediately: true })
    yield* session.renewed
    yield* (yield* Agents).revoke(agentId)
    for (const ended of [draining, session]) expect(yield* Effect.flip(ended.renewed)).toMatchObject(over)
    yield* begun("after-the-revocation")
    expect((yield* Fiber.join(poll)).offer).toBeUndefined()
  })
)
