import { describe, expect } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { it } from "../../../support/Effect.ts"
import { on, onFile, pass, server } from "./support/Servers.ts"

/** Work that records the server on which it is running. */
const work = (name: string, active: Array<string>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => active.push(name)),
    () => Effect.never,
    () => Effect.sync(() => void active.splice(active.indexOf(name), 1))
  )

describe("Work that one server performs on behalf of all servers", () => {
  it.effect(
    "only one server does exclusive work, and another server takes over within 15 seconds if the first server goes silent",
    () =>
      on(
        Effect.gen(function* () {
          const [a, b] = [yield* server(), yield* server()]
          const active: Array<string> = []
          yield* Effect.forkScoped(a.exclusive.during("sweep")(work("a", active)))
          yield* pass(2, a, b)
          yield* Effect.forkScoped(b.exclusive.during("sweep")(work("b", active)))
          yield* pass(60, a, b)
          expect(active).toEqual(["a"])
          // The silent server stops its work before the other server begins.
          let most = 0
          for (let second = 0; second < 16; second += 2) {
            yield* pass(2, b)
            most = Math.max(most, active.length)
          }
          expect({ active, most }).toEqual({ active: ["b"], most: 1 })
        })
      )
  )

  it.effect("exclusive work that fails restarts on the same server, because no other server could take it", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        const begun: Array<string> = []
        const failing = (name: string) =>
          Effect.suspend(() => (begun.push(name) < 3 ? Effect.die(new Error("the database is away")) : Effect.never))
        yield* Effect.forkScoped(a.exclusive.during("sweep")(failing("a")))
        yield* pass(2, a, b)
        yield* Effect.forkScoped(b.exclusive.during("sweep")(failing("b")))
        yield* pass(20, a, b)
        expect(begun).toEqual(["a", "a", "a"])
      })
    )
  )

  it.effect("a server that shuts down hands over its work immediately", () =>
    on(
      Effect.gen(function* () {
        const a = yield* server()
        const active: Array<string> = []
        const first = yield* Effect.forkScoped(a.exclusive.during("sweep")(work("a", active)))
        yield* pass(2, a)
        const b = yield* server()
        yield* Effect.forkScoped(b.exclusive.during("sweep")(work("b", active)))
        yield* pass(2, a, b)
        expect(active).toEqual(["a"])
        yield* Fiber.interrupt(first)
        yield* pass(2, a, b)
        expect(active).toEqual(["b"])
      })
    )
  )

  it.effect("a server skips exclusive work that another server has already taken", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        const turns: Array<string> = []
        const turn = (name: string) => Effect.sync(() => void turns.push(name))
        yield* a.exclusive.onlyHere("cleanup")(turn("a"))
        yield* b.exclusive.onlyHere("cleanup")(turn("b"))
        yield* a.exclusive.onlyHere("cleanup")(turn("a"))
        expect(turns).toEqual(["a", "a"])
        yield* pass(14, b)
        yield* b.exclusive.onlyHere("cleanup")(turn("b"))
        yield* a.exclusive.onlyHere("cleanup")(turn("a"))
        expect(turns).toEqual(["a", "a", "b"])
      })
    )
  )

  it.effect("a server that waits for another server's work starts no transaction", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        yield* a.exclusive.onlyHere("cleanup")(Effect.void)
        let statements = 0
        const stop = (yield* Commits).beforeWrites(() => {
          statements += 1
        })
        yield* b.exclusive.onlyHere("cleanup")(Effect.die("not here"))
        stop()
        // The second statement reads who holds the lock.
        expect(statements).toBe(2)
      })
    )
  )

  it.effect("if two servers find free work, only one takes it", () =>
    onFile((databaseFile) =>
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        // Another process takes the work between this server's read and its transaction.
        let statements = 0
        const stop = (yield* Commits).beforeWrites(() => {
          statements += 1
          if (statements !== 2) return
          const database = new DatabaseSync(databaseFile)
          database
            .prepare("INSERT INTO exclusive_work (name, node_id, taken_at) VALUES ('cleanup', ?, '2026-01-01')")
            .run(a.nodes.name)
          database.close()
        })
        yield* b.exclusive.onlyHere("cleanup")(Effect.die("not here"))
        stop()
        expect(statements).toBeGreaterThan(2)
      })
    )
  )
})

describe("Locks", () => {
  it.effect("a server retries a failed lock release, and then another server can take the lock", () =>
    on(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [a, b] = [yield* server(), yield* server()]
        const unreachable = sql`ALTER TABLE exclusive_work RENAME TO elsewhere`
        const first = yield* Effect.forkScoped(a.exclusive.locked("group 1")(unreachable))
        yield* pass(2, a, b)
        yield* sql`ALTER TABLE elsewhere RENAME TO exclusive_work`
        yield* pass(2, a, b)
        yield* Fiber.join(first)
        expect(yield* b.exclusive.locked("group 1")(Effect.succeed("taken"))).toBe("taken")
      })
    )
  )

  it.effect("a server that shuts down stops waiting for a lock, even after other servers have declared it gone", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        yield* pass(14, b)
        yield* a.nodes.turn
        yield* a.nodes.expelled
        const waiting = yield* Effect.forkScoped(a.exclusive.locked("group 1")(Effect.die("not here")))
        yield* pass(2, b)
        yield* Fiber.interrupt(waiting)
        expect(yield* b.exclusive.locked("group 1")(Effect.succeed("free"))).toBe("free")
      })
    )
  )

  it.effect(
    "a decision waits for the same decision on another server or in another fiber, but not for other decisions",
    () =>
      on(
        Effect.gen(function* () {
          const [a, b] = [yield* server(), yield* server()]
          const end = yield* Deferred.make<void>()
          const order: Array<string> = []
          const step = (name: string, until: Effect.Effect<unknown>) =>
            Effect.andThen(
              Effect.sync(() => order.push(`${name} begins`)),
              Effect.andThen(
                until,
                Effect.sync(() => order.push(`${name} ends`))
              )
            )
          const first = yield* Effect.forkScoped(a.exclusive.locked("group 1")(step("a", Deferred.await(end))))
          yield* pass(2, a, b)
          const second = yield* Effect.forkScoped(b.exclusive.locked("group 1")(step("b", Effect.void)))
          const third = yield* Effect.forkScoped(a.exclusive.locked("group 1")(step("again", Effect.void)))
          yield* b.exclusive.locked("group 2")(step("other", Effect.void))
          yield* pass(4, a, b)
          expect(order).toEqual(["a begins", "other begins", "other ends"])
          yield* Deferred.succeed(end, undefined)
          yield* pass(4, a, b)
          yield* Effect.forEach([first, second, third], Fiber.join)
          expect(order.slice(3)).toHaveLength(5)
          for (const name of ["b", "again"]) {
            expect(order.indexOf(`${name} ends`)).toBe(order.indexOf(`${name} begins`) + 1)
          }
        })
      )
  )

  it.effect("a server can take a lock from a server that is gone, and a decision that fails releases its lock", () =>
    on(
      Effect.gen(function* () {
        const [a, b] = [yield* server(), yield* server()]
        yield* Effect.exit(a.exclusive.locked("keys")(Effect.die("a fault")))
        yield* b.exclusive.locked("keys")(Effect.void)
        yield* Effect.forkScoped(a.exclusive.locked("keys")(Effect.never))
        yield* pass(2, a, b)
        const waiting = yield* Effect.forkScoped(b.exclusive.locked("keys")(Effect.succeed("b")))
        yield* pass(14, b)
        yield* TestClock.adjust("1 second")
        expect(yield* Fiber.join(waiting)).toBe("b")
      })
    )
  )
})
