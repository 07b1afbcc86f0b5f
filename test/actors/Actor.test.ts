import { describe, expect, test } from "bun:test"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Logger, Schema, Scope } from "effect"
import { Rpc } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { mailboxesKey, mailboxesOf, mostWaiting, serve } from "../../actors/Actor.ts"
import { transaction } from "../../actors/base/database/Transaction.ts"
import { commandsOf } from "../../schema/commands/Command.ts"
import { ApiError, notFound } from "../../schema/errors/ApiError.ts"
import { testDatabase } from "../support/Database.ts"
import { it } from "../support/Effect.ts"

const Doors = commandsOf(
  "Door",
  Schema.String,
  Rpc.make("Open", { payload: { by: Schema.String }, success: Schema.String, error: ApiError }),
  Rpc.make("Break"),
  Rpc.make("Stick")
)

/** Builds actors whose commands wait for `gate`, with logs of the commands that began and ended. */
const makeDoors = () => {
  const gate = Deferred.makeUnsafe<void>()
  const begun: Array<string> = []
  const ended: Array<string> = []
  const behavior = serve(Doors, {
    Open: Effect.fnUntraced(function* (id, { by }) {
      if (by === "nobody") return yield* notFound("Door")
      begun.push(`${id} ${by}`)
      yield* Deferred.await(gate)
      ended.push(`${id} ${by}`)
      return `${id} opened by ${by}`
    }),
    Break: () => Effect.die(new Error("broken")),
    Stick: () => Effect.andThen(Deferred.await(gate), Effect.die(new Error("stuck")))
  })
  const open = Deferred.succeed(gate, undefined)
  const busy = Effect.flatMap(mailboxesKey(Doors), (mailboxes) => mailboxes.busy)
  return { begun, ended, behavior, open, busy }
}

const withDoors = <A, E, R>(
  body: (doors: ReturnType<typeof makeDoors>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Layer.Success<ReturnType<typeof mailboxesOf<"Door", string, Rpc.Any>>>>> => {
  const doors = makeDoors()
  return body(doors).pipe(Effect.provide(doors.behavior.pipe(Layer.provideMerge(mailboxesOf(Doors)))))
}

/** Runs every fiber until it blocks. */
const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const ask = Effect.fnUntraced(function* (id: string, by: string) {
  const doors = yield* Doors
  const fiber = yield* Effect.forkChild(doors.Open(id, { by }), { startImmediately: true })
  yield* settled
  return fiber
})

describe("Actor: command order per record", () => {
  it.effect("commands to one record run one at a time, in order of arrival, without delaying other records", () =>
    withDoors(({ begun, open }) =>
      Effect.gen(function* () {
        const fibers = [yield* ask("a", "first"), yield* ask("a", "second"), yield* ask("b", "third")]
        expect(begun).toEqual(["a first", "b third"])
        yield* open
        expect(yield* Fiber.joinAll(fibers)).toEqual(["a opened by first", "a opened by second", "b opened by third"])
        expect(begun).toEqual(["a first", "b third", "a second"])
      })
    )
  )

  it.effect("a running command finishes if its caller is interrupted, and the next command waits for it", () =>
    withDoors(({ begun, ended, open }) =>
      Effect.gen(function* () {
        const running = yield* ask("a", "running")
        const next = yield* ask("a", "next")
        yield* Fiber.interrupt(running)
        yield* settled
        expect([begun, ended]).toEqual([["a running"], []])
        yield* open
        expect(yield* Fiber.join(next)).toBe("a opened by next")
        expect(ended).toEqual(["a running", "a next"])
      })
    )
  )

  it.effect("a waiting command is dropped if its caller is interrupted", () =>
    withDoors(({ begun, open }) =>
      Effect.gen(function* () {
        yield* ask("a", "running")
        const waiting = yield* ask("a", "waiting")
        const last = yield* ask("a", "last")
        yield* Fiber.interrupt(waiting)
        yield* open
        expect(yield* Fiber.join(last)).toBe("a opened by last")
        expect(begun).toEqual(["a running", "a last"])
      })
    )
  )

  it.effect("a command returns its error or defect to its caller, and later commands still run", () =>
    withDoors(({ open }) =>
      Effect.gen(function* () {
        const doors = yield* Doors
        yield* open
        expect((yield* Effect.flip(doors.Open("a", { by: "nobody" }))).code).toBe("not_found")
        const broken = yield* Effect.exit(doors.Break("a"))
        expect(Exit.isFailure(broken) && Cause.hasDies(broken.cause)).toBe(true)
        expect(yield* doors.Open("a", { by: "ann" })).toBe("a opened by ann")
      })
    )
  )

  it.effect("a defect in a command that nobody waits for is logged", () => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    return withDoors(({ open }) =>
      Effect.gen(function* () {
        const doors = yield* Doors
        const stuck = yield* Effect.forkChild(doors.Stick("a"), { startImmediately: true })
        yield* Fiber.interrupt(stuck)
        yield* open
        yield* settled
        expect(logged).toHaveLength(1)
        expect(String(logged[0])).toContain("Door.Stick of a failed after its caller had left")
      })
    ).pipe(Effect.provide(Logger.layer([logger])))
  })

  it.effect("an actor rejects a command with a retryable 429 while 512 commands wait for the same record", () =>
    withDoors(({ open }) =>
      Effect.gen(function* () {
        const doors = yield* Doors
        const first = yield* ask("a", "first")
        const waiting = yield* Effect.forEach(Array.from({ length: mostWaiting }), (_, index) =>
          Effect.forkChild(doors.Open("a", { by: String(index) }), { startImmediately: true })
        )
        expect(mostWaiting).toBe(512)
        expect(yield* Effect.flip(doors.Open("a", { by: "late" }))).toMatchObject({
          code: "rate_limited",
          retryAfter: 1
        })
        yield* open
        expect(yield* doors.Open("b", { by: "ann" })).toBe("b opened by ann")
        yield* Fiber.joinAll([first, ...waiting])
        expect(yield* doors.Open("a", { by: "late" })).toBe("a opened by late")
      })
    )
  )

  it.effect("an actor removes the mailbox of a record after the last command for that record", () =>
    withDoors(({ busy, open }) =>
      Effect.gen(function* () {
        const doors = yield* Doors
        const fibers = [yield* ask("a", "first"), yield* ask("a", "second"), yield* ask("b", "third")]
        expect(yield* busy).toBe(2)
        yield* open
        yield* Fiber.joinAll(fibers)
        yield* Effect.exit(doors.Break("c"))
        expect(yield* busy).toBe(0)
      })
    )
  )
})

describe("Actor lifetime", () => {
  it.effect("an actor's commands wait until the actor starts serving", () => {
    const { begun, behavior, open } = makeDoors()
    return Effect.gen(function* () {
      const early = yield* ask("a", "early")
      expect(begun).toEqual([])
      const scope = yield* Effect.scope
      yield* Layer.buildWithScope(behavior, scope)
      yield* open
      expect(yield* Fiber.join(early)).toBe("a opened by early")
    }).pipe(Effect.provide(mailboxesOf(Doors)))
  })

  it.effect("closing an actor's layer interrupts its running command and answers every caller", () => {
    const { begun, behavior, busy, ended } = makeDoors()
    return Effect.gen(function* () {
      const doors = yield* Doors
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(behavior, scope)
      const fibers = [yield* ask("a", "running"), yield* ask("a", "waiting"), yield* ask("b", "other")]
      yield* Scope.close(scope, Exit.void)
      for (const exit of yield* Fiber.awaitAll(fibers)) {
        expect(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)).toBe(true)
      }
      expect([begun, ended]).toEqual([["a running", "b other"], []])
      expect(yield* busy).toBe(0)
      const late = yield* Effect.exit(doors.Open("a", { by: "late" }))
      expect(Exit.isFailure(late) && Cause.hasInterruptsOnly(late.cause)).toBe(true)
    }).pipe(Effect.provide(mailboxesOf(Doors)))
  })
})

class Word extends Context.Service<Word, string>()("svc/test/Word") {}
class Letter extends Context.Service<Letter, string>()("svc/test/Letter") {}
const Known = Context.Reference<string>("svc/test/Known", { defaultValue: () => "default" })
/** The caller provides a value for this reference. The value must not reach an actor. */
const Own = Context.Reference<string>("svc/test/Own", { defaultValue: () => "default" })

const Echoes = commandsOf(
  "Echo",
  Schema.String,
  Rpc.make("Say", { success: Schema.Array(Schema.String) }),
  Rpc.make("Spell", { success: Schema.String })
)
const echo = serve(Echoes, {
  Say: Effect.fnUntraced(function* (id) {
    return [id, yield* Word, yield* Known, yield* Own]
  }),
  Spell: () => Letter
})

test("the layer of an actor requires only its mailboxes and the services that its handlers use", () => {
  type Needed = Layer.Services<typeof echo>
  type Mailboxes = Layer.Success<ReturnType<typeof mailboxesOf<"Echo", string, never>>>
  const isUnknown: unknown extends Needed ? true : false = false
  const isWhole: [Word | Letter] extends [Needed] ? true : false = true
  const isNoMore: [Exclude<Needed, Word | Letter>] extends [Mailboxes] ? true : false = true
  expect([isUnknown, isWhole, isNoMore]).toEqual([false, true, true])
})

describe("Command services", () => {
  it.effect("a command uses the services in the layer of its actor, and only the tracing span of its caller", () => {
    const provided = Layer.mergeAll(
      Layer.succeed(Word, "hello"),
      Layer.succeed(Letter, "h"),
      Layer.succeed(Known, "provided")
    )
    return Effect.gen(function* () {
      const echoes = yield* Echoes
      const heard = echoes
        .Say("a")
        .pipe(
          Effect.provideService(Word, "the caller's"),
          Effect.provideService(Known, "the caller's"),
          Effect.provideService(Own, "the caller's"),
          Effect.withSpan("caller")
        )
      expect(yield* heard).toEqual(["a", "hello", "provided", "default"])
      expect(yield* echoes.Spell("b")).toBe("h")
    }).pipe(Effect.provide(echo.pipe(Layer.provide(provided), Layer.provideMerge(mailboxesOf(Echoes)))))
  })
})

const Rows = commandsOf("Row", Schema.String, Rpc.make("Write"), Rpc.make("Hold"))

/** Actors that write rows: `Write` commits at once, and `Hold` writes and then waits inside its transaction forever. */
const rows = serve(Rows, {
  Write: Effect.fnUntraced(function* (id) {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.orDie(sql`INSERT INTO noted (id) VALUES (${id})`).pipe(transaction(sql))
  }),
  Hold: Effect.fnUntraced(function* (id) {
    const sql = yield* SqlClient.SqlClient
    return yield* Effect.orDie(sql`INSERT INTO noted (id) VALUES (${id})`).pipe(
      Effect.andThen(Effect.never),
      transaction(sql)
    )
  })
})
const noted = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ readonly id: string }>`SELECT id FROM noted ORDER BY id`
  return found.map(({ id }) => id)
})
const withRows = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE noted (id TEXT PRIMARY KEY)`
    return yield* body
  }).pipe(Effect.provide(Layer.merge(mailboxesOf(Rows), testDatabase)))

describe("Actor: commands in transactions", () => {
  it.live("a command sent to an actor from inside a transaction fails immediately with a defect", () =>
    withRows(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Layer.buildWithScope(rows, yield* Effect.scope)
        const write = (yield* Rows).Write("a")
        const within = yield* Effect.exit(transaction(sql)(write))
        expect(Exit.isFailure(within) && Cause.pretty(within.cause)).toContain(
          "A command to the Row a inside a database transaction"
        )
        // A command sent before the actors start is a defect as well, because the transaction would otherwise wait for the
        // actors to start.
        expect(yield* noted).toEqual([])
        yield* transaction(sql)(sql.afterCommit(Effect.orDie(write)))
        expect(yield* noted).toEqual(["a"])
      })
    )
  )

  it.live(
    "if closing an actor interrupts a command, the command is rolled back before the actor finishes closing",
    () =>
      withRows(
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          yield* Layer.buildWithScope(rows, scope)
          const held = yield* Effect.forkChild((yield* Rows).Hold("a"), { startImmediately: true })
          while ((yield* (yield* mailboxesKey(Rows)).busy) === 0) yield* Effect.yieldNow
          yield* Scope.close(scope, Exit.void)
          expect(yield* noted).toEqual([])
          const exit = yield* Fiber.await(held)
          expect(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)).toBe(true)
        })
      )
  )
})
