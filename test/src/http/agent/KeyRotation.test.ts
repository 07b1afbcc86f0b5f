import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { sealingKey } from "../../../../actors/running/agent-pool/ServerKeys.ts"
import { agentParty } from "../../../../runner/agent/AgentParty.ts"
import { openSealed, sealFor } from "../../../../runner/agent/SealedMessage.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { suite } from "../../../support/Effect.ts"
import { farPlane } from "../support/FarPlane.ts"
import { machineFacts } from "../support/TestAgent.ts"
import { enrolledFolder, settledOn, settledOnOwn } from "../support/EnrolledFolder.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

plane.live("new keys are announced in one session and adopted in the next, which invalidates the former keys", () =>
  Effect.gen(function* () {
    const agent = yield* enrolledFolder
    yield* agent.process(1)
    const next = yield* agent.folder.prepareKeys
    expect((yield* agent.folder.prepareKeys).public).toEqual(next.public)
    yield* agent.process(2)
    yield* settledOn(agent, next)
    const sql = yield* SqlClient.SqlClient
    const audited =
      yield* sql`SELECT target_id FROM audit_events WHERE action = 'agent.rotate_keys' AND target_id = ${agent.agentId}`
    expect(audited).toHaveLength(1)
  })
)

plane.live("the server and the agent can continue after a process exits between any two steps of a key change", () =>
  Effect.gen(function* () {
    // The process exits after creating new keys, before announcing them.
    const made = yield* enrolledFolder
    const first = yield* made.folder.prepareKeys
    yield* made.process(1)
    yield* made.process(2)
    yield* settledOn(made, first)

    // The keys were announced, but the response was lost.
    const announced = yield* enrolledFolder
    const second = yield* announced.folder.prepareKeys
    yield* announced.hello(announced.keys, second)
    yield* announced.process(2)
    yield* settledOn(announced, second)

    // The server received the keys, but the response was lost.
    const taken = yield* enrolledFolder
    const third = yield* taken.folder.prepareKeys
    yield* taken.hello(taken.keys, third)
    yield* taken.hello(third)
    yield* taken.process(1)
    yield* settledOn(taken, third)

    // The agent has adopted the keys, but the file with the next keys still exists.
    const left = yield* enrolledFolder
    const fourth = yield* left.folder.prepareKeys
    yield* left.hello(left.keys, fourth)
    yield* left.hello(fourth)
    const file = join(left.path, "next-keys.json")
    const content = yield* Effect.promise(() => Bun.file(file).text())
    yield* left.folder.takeNextKeys(fourth)
    writeFileSync(file, content, { mode: 0o600 })
    yield* left.process(1)
    yield* settledOn(left, fourth)

    // Simulates a server restored from a backup that does not contain the announced keys.
    const restored = yield* enrolledFolder
    const fifth = yield* restored.folder.prepareKeys
    const sql = yield* SqlClient.SqlClient
    const forgotten = Effect.orDie(sql`UPDATE agents SET next_keys = NULL WHERE id = ${restored.agentId}`)
    yield* restored.process(3, forgotten)
    yield* settledOn(restored, fifth)
  })
)

plane.live("a server restored from before a key change receives the current keys, signed with former keys", () =>
  Effect.gen(function* () {
    const agent = yield* enrolledFolder
    const sql = yield* SqlClient.SqlClient
    yield* agent.process(1)
    for (const _ of [1, 2]) {
      yield* agent.folder.prepareKeys
      yield* agent.process(2)
    }
    const present = yield* agent.folder.keys
    yield* sql`UPDATE agents SET sign_key = ${agent.keys.public.sign}, seal_key = ${agent.keys.public.seal},
      next_keys = NULL WHERE id = ${agent.agentId}`
    yield* agent.process(1)
    yield* settledOn(agent, present)

    // The agent can also continue if such a restore happens during a key change.
    const next = yield* agent.folder.prepareKeys
    yield* sql`UPDATE agents SET sign_key = ${agent.keys.public.sign}, seal_key = ${agent.keys.public.seal},
      next_keys = NULL WHERE id = ${agent.agentId}`
    yield* agent.process(3)
    yield* settledOn(agent, next)

    // The server has adopted keys that another process of the agent has discarded.
    const dropped = yield* agent.folder.prepareKeys
    yield* agent.hello(next, dropped)
    yield* agent.hello(dropped)
    yield* agent.folder.dropNextKeys(dropped)
    yield* agent.process(1)
    yield* settledOn(agent, next)

    // After the revocation, the server refuses the agent, whichever keys the agent presents.
    yield* sql`UPDATE agents SET revoked_at = enrolled_at WHERE id = ${agent.agentId}`
    expect(yield* Effect.flip(agent.process(1))).toMatchObject({ _tag: "Unauthorised", retry: false })
  })
)

plane.live("an unrelated refusal does not remove next keys that the server has adopted", () =>
  Effect.gen(function* () {
    const agent = yield* enrolledFolder
    const sql = yield* SqlClient.SqlClient
    yield* agent.process(1)
    const next = yield* agent.folder.prepareKeys
    const isolation = (level: string | null) => sql`UPDATE agent_pools SET isolation = ${level} WHERE name = 'far'`
    const weak = { ...machineFacts, isolation: "landlock" } as const
    const refused = (sessions: number, between: Effect.Effect<unknown> = Effect.void) =>
      Effect.map(Effect.flip(agent.process(sessions, between, weak)), ({ _tag }) => expect(_tag).toBe("Rejected"))
    // The server adopted the next keys, but the response was lost.
    const taken = Effect.orDie(Effect.andThen(agent.hello(next), isolation("bubblewrap")))
    yield* refused(2, taken)
    yield* refused(1)
    yield* isolation(null)
    yield* agent.process(1)
    yield* settledOn(agent, next)

    // If the server refuses the agent before the keys are announced, the agent keeps the keys as well.
    const later = yield* agent.folder.prepareKeys
    yield* isolation("bubblewrap")
    yield* refused(1)
    yield* isolation(null)
    yield* agent.process(2)
    yield* settledOn(agent, later)
  }).pipe(
    Effect.ensuring(
      Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(sql`UPDATE agent_pools SET isolation = NULL`))
    )
  )
)

plane.live("data sealed for former keys can be opened only while a process of the agent is working on a Run", () =>
  Effect.gen(function* () {
    const agent = yield* enrolledFolder
    const purpose = { from: "server:it", to: agent.agentId, runId: "run", fence: 1, kind: "job" }
    const words = new TextEncoder().encode("for the former keys")
    const sealed = yield* sealFor(yield* sealingKey(agent.keys.public.seal), purpose, words)
    const identity = yield* agent.folder.identity
    if (identity._tag === "None") return yield* Effect.die(new Error("not enrolled"))
    const { opening } = yield* agentParty(identity.value, agent.folder)
    const opened = Effect.flatMap(opening, (keys) => openSealed(keys, purpose, sealed))
    const run = join(agent.folder.runs, `${namedRun("held")}-1`)
    mkdirSync(run)
    for (const _ of [1, 2]) {
      yield* agent.folder.prepareKeys
      yield* agent.process(2)
    }
    expect(yield* opened).toEqual(words)
    yield* agent.process(1)
    expect(yield* opened).toEqual(words)
    rmSync(run, { recursive: true })
    yield* agent.process(1)
    expect(yield* Effect.flip(opened)).toMatchObject({ _tag: "NotSealedForThis" })
    const file = yield* Effect.promise(() => Bun.file(join(agent.path, "keys.json")).json())
    expect(Object.keys(file)).not.toContain("former")
    rmSync(agent.path, { recursive: true })
  })
)

plane.live("data sealed for adopted keys can be opened before the agent receives confirmation of the adoption", () =>
  Effect.gen(function* () {
    const agent = yield* enrolledFolder
    const identity = yield* agent.folder.identity
    if (identity._tag === "None") return yield* Effect.die(new Error("not enrolled"))
    const { open, opening } = yield* agentParty(identity.value, agent.folder)
    const purpose = { from: "server:it", to: agent.agentId, runId: "run", fence: 1, kind: "job" }
    const words = new TextEncoder().encode("for the next keys")
    const before = yield* sealFor(yield* sealingKey(agent.keys.public.seal), purpose, words)
    expect((yield* open(purpose, before)).bytes).toEqual(words)
    const next = yield* agent.folder.prepareKeys
    const sealed = yield* sealFor(yield* sealingKey(next.public.seal), purpose, words)
    expect(yield* openSealed(yield* opening, purpose, sealed)).toEqual(words)
    // The message was opened with the agent's older keys, so the agent keeps them.
    expect((yield* open(purpose, sealed)).bytes).toEqual(words)
    const own = yield* sealFor(yield* sealingKey(agent.keys.public.seal), purpose, words)
    expect(yield* openSealed(yield* opening, purpose, own)).toEqual(words)
  })
)

plane.live("undated keys from an earlier release get a date, and are replaced once they are old", () =>
  Effect.gen(function* () {
    const agent = yield* enrolledFolder
    const file = join(agent.path, "keys.json")
    const stored = () => Effect.promise(() => Bun.file(file).json())
    const { madeAt, ...undated } = yield* stored()
    expect(madeAt).toBeString()
    writeFileSync(file, JSON.stringify(undated))
    yield* agent.process(3)
    yield* settledOnOwn(agent)
    const dated = yield* stored()
    expect(dated.madeAt).toBeString()
    writeFileSync(file, JSON.stringify({ ...dated, madeAt: "2020-01-01T00:00:00.000Z" }))
    yield* agent.process(2)
    const next = yield* agent.folder.keys
    expect(next.public).not.toEqual(agent.keys.public)
    yield* settledOn(agent, next)
  })
)

plane.live(
  "a session that starts during a key change neither undoes the change nor is accepted with the former keys",
  () =>
    Effect.gen(function* () {
      const agent = yield* enrolledFolder
      const sql = yield* SqlClient.SqlClient
      const announcedAtServer = sql<{
        next_keys: string | null
      }>`SELECT next_keys FROM agents WHERE id = ${agent.agentId}`
      const again = { _tag: "Unauthorised", retry: true }
      const next = yield* agent.folder.prepareKeys
      yield* agent.slowHello(agent.keys, Effect.orDie(agent.hello(agent.keys, next)))
      expect(JSON.parse((yield* announcedAtServer)[0]?.next_keys ?? "null")).toEqual(next.public)
      expect(yield* Effect.flip(agent.slowHello(agent.keys, Effect.orDie(agent.hello(next))))).toMatchObject(again)
      expect(yield* announcedAtServer).toEqual([{ next_keys: null }])
      yield* agent.process(1)
      yield* settledOn(agent, next)
      const revoked = Effect.orDie(sql`UPDATE agents SET revoked_at = enrolled_at WHERE id = ${agent.agentId}`)
      expect(yield* Effect.flip(agent.slowHello(next, revoked))).toMatchObject(again)
      expect(yield* Effect.flip(agent.slowHello(next, Effect.void))).toMatchObject({ ...again, retry: false })
    })
)

plane.live(
  "nobody can announce the keys of another agent, and an agent whose next keys are refused keeps its current keys",
  () =>
    Effect.gen(function* () {
      const one = yield* enrolledFolder
      const other = yield* enrolledFolder
      expect(yield* Effect.flip(one.hello(one.keys, other.keys))).toMatchObject({ _tag: "Rejected" })
      // Another agent's keys were copied into this agent's folder.
      writeFileSync(
        join(one.path, "next-keys.json"),
        yield* Effect.promise(() => Bun.file(join(other.path, "keys.json")).text()),
        { mode: 0o600 }
      )
      yield* one.process(1)
      yield* settledOnOwn(one)
      expect(Redacted.isRedacted((yield* one.folder.keys).sign)).toBe(true)
    })
)
