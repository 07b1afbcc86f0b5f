import { describe, expect } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { beatingServers } from "../../../../actors/base/node/Nodes.ts"
import { it } from "../../../support/Effect.ts"
import { on, onFile, pass, server } from "./support/Servers.ts"

describe("Servers that share a database", () => {
  it.effect(
    "a server that writes heartbeats is never considered gone, and a silent server is considered gone after 10 seconds",
    () =>
      on(
        Effect.gen(function* () {
          const [a, b] = [yield* server(), yield* server()]
          yield* pass(60, a, b)
          expect(yield* a.nodes.isGone(b.nodes.name)).toBe(false)
          yield* pass(10, a)
          expect(yield* a.nodes.isGone(b.nodes.name)).toBe(false)
          yield* pass(4, a)
          expect(yield* a.nodes.isGone(b.nodes.name)).toBe(true)
          expect((yield* a.nodes.list).map(({ id }) => id)).toEqual([a.nodes.name])
        })
      )
  )

  it.effect(
    "a server stops its work before other servers can declare it gone, and detects that they have declared it gone",
    () =>
      on(
        Effect.gen(function* () {
          const [a, b] = [yield* server(), yield* server()]
          yield* pass(4, a, b)
          yield* pass(8, a)
          expect([yield* b.nodes.isCurrent, yield* a.nodes.isGone(b.nodes.name)]).toEqual([false, false])
          yield* pass(10, a)
          expect(yield* a.nodes.isGone(b.nodes.name)).toBe(true)
          yield* b.nodes.turn
          yield* b.nodes.expelled
          expect(yield* b.nodes.isCurrent).toBe(false)
        })
      )
  )

  it.effect("a server that was frozen does not declare the other servers gone", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        yield* pass(4, a, b)
        yield* a.nodes.turn
        yield* TestClock.adjust("1 hour")
        yield* a.nodes.turn
        expect(yield* a.nodes.isGone(b.nodes.name)).toBe(false)
        yield* b.nodes.turn
        yield* pass(20, a, b)
        expect(yield* a.nodes.isGone(b.nodes.name)).toBe(false)
      })
    )
  )

  it.effect("a server whose heartbeat arrives at the last moment is not considered gone", () =>
    onFile((databaseFile) =>
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        yield* pass(12, a)
        expect(yield* a.nodes.isGone(b.nodes.name)).toBe(false)
        // Another process writes a heartbeat between this server's observation and its decision.
        let statements = 0
        const stop = (yield* Commits).beforeWrites(() => {
          statements += 1
          if (statements !== 3) return
          const database = new DatabaseSync(databaseFile)
          database.prepare("UPDATE nodes SET beats = beats + 1 WHERE id = ?").run(b.nodes.name)
          database.close()
        })
        yield* pass(2, a)
        stop()
        expect(statements).toBe(3)
        expect(yield* a.nodes.isGone(b.nodes.name)).toBe(false)
      })
    )
  )

  it.effect("a server counts the running servers, and drops a server that shut down or was killed", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        yield* pass(2, a, b)
        expect(yield* a.nodes.count).toBe(2)
        yield* Effect.scoped(
          Effect.andThen(
            server(),
            Effect.andThen(
              pass(2, a, b),
              Effect.map(a.nodes.count, (count) => expect(count).toBe(3))
            )
          )
        )
        yield* pass(2, a, b)
        expect(yield* a.nodes.count).toBe(2)
        yield* pass(14, a)
        expect(yield* a.nodes.count).toBe(1)
      })
    )
  )

  it.effect("only servers that write heartbeats count as running, and leftover rows of killed servers do not", () =>
    on(
      Effect.gen(function* () {
        const [a, b, dead] = [yield* server(), yield* server(), yield* server()]
        expect(dead.nodes.name).not.toBe(b.nodes.name)
        const found = yield* Effect.forkScoped(beatingServers(a.nodes.name))
        yield* pass(6, a, b)
        expect(yield* Fiber.join(found)).toEqual([b.nodes.name])
      })
    )
  )

  it.effect(
    "a server that shuts down is gone immediately, regardless of the order in which servers started, and agents do not count as servers",
    () =>
      on(
        Effect.gen(function* () {
          const first = yield* server()
          const later = yield* Effect.scoped(Effect.map(server(), ({ nodes }) => nodes.name))
          expect(yield* first.nodes.isGone(later)).toBe(true)
          expect(yield* first.nodes.isGone("agt_aaaaaaaaaaaaaaaaaaaaaaaa")).toBe(false)
          expect(yield* first.nodes.isGone("inst_of_another#1")).toBe(false)
          expect(yield* first.nodes.isGone(first.nodes.name)).toBe(false)
        })
      )
  )
})

describe("A single server on a database", () => {
  it.effect("a single server immediately considers every earlier server gone", () =>
    on(
      Effect.gen(function* () {
        const earlier = yield* server(false)
        const { exclusive, nodes } = yield* server(false)
        expect(yield* nodes.isGone(earlier.nodes.name)).toBe(true)
        expect(yield* earlier.nodes.isGone(nodes.name)).toBe(false)
        expect(yield* nodes.isCurrent).toBe(true)
        let count = 0
        yield* exclusive.onlyHere("anything")(Effect.sync(() => void (count += 1)))
        yield* exclusive.locked("anything")(Effect.sync(() => void (count += 1)))
        expect(count).toBe(2)
      })
    )
  )
})
