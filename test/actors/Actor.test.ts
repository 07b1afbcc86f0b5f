import { describe, expect, test } from "bun:test"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ActorHost, actorLayer, commandsTo, handle, type Handlers } from "../../actors/Actor.ts"
import { ApiError, notFound } from "../../schema/errors/ApiError.ts"
import { type Commands, commandsOf } from "../../schema/commands/Command.ts"
import { it } from "../support/Effect.ts"

const Door = commandsOf("Door", [
  Rpc.make("Open", { payload: { by: Schema.String }, success: Schema.String, error: ApiError }),
  Rpc.make("Break")
])
type Messages = typeof Door extends Commands<"Door", infer Rpcs> ? Rpcs : never

/** Doors whose `Open` waits for `gate`, and what has begun. */
const doors = Effect.gen(function* () {
  const gate = yield* Deferred.make<void>()
  const begun: Array<string> = []
  const handlersOf = (id: string): Handlers<Messages> => ({
    Open: ({ payload: { by } }) =>
      Effect.gen(function* () {
        if (by === "nobody") return yield* notFound("Door")
        begun.push(`${id} ${by}`)
        yield* Deferred.await(gate)
        return `${id} opened by ${by}`
      }),
    Break: () => Effect.die(new Error("broken"))
  })
  const host = yield* ActorHost
  const command = yield* commandsTo(Door)
  const serve = host.serve(Door, { handlersOf, context: Context.empty() })
  return { host, command, serve, gate, begun }
})

/** Lets every fiber go as far as it can. */
const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

const open = Effect.fnUntraced(function* (id: string, by: string, { command }: Effect.Success<typeof doors>) {
  const fiber = yield* Effect.forkChild(command(id, "Open", { by }), { startImmediately: true })
  yield* settled
  return fiber
})

describe("commands to the actors of this process", () => {
  it.effect("one record executes one at a time, in the order of arrival; another record does not wait", () =>
    Effect.gen(function* () {
      const at = yield* doors
      yield* at.serve
      const fibers = [yield* open("a", "first", at), yield* open("a", "second", at), yield* open("b", "third", at)]
      expect(at.begun).toEqual(["a first", "b third"])
      yield* Deferred.succeed(at.gate, undefined)
      expect(yield* Fiber.joinAll(fibers)).toEqual(["a opened by first", "a opened by second", "b opened by third"])
      expect(at.begun).toEqual(["a first", "b third", "a second"])
    }).pipe(Effect.provide(ActorHost.layer))
  )

  it.effect("a caller that is interrupted ends its command, whether it waits or runs, and gives the turn back", () =>
    Effect.gen(function* () {
      const at = yield* doors
      yield* at.serve
      const running = yield* open("a", "running", at)
      const waiting = yield* open("a", "waiting", at)
      const last = yield* open("a", "last", at)
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(running)
      yield* settled
      expect(at.begun).toEqual(["a running", "a last"])
      yield* Deferred.succeed(at.gate, undefined)
      expect(yield* Fiber.join(last)).toBe("a opened by last")
    }).pipe(Effect.provide(ActorHost.layer))
  )

  it.effect("a refusal and a defect go to the caller, and the actor stays", () =>
    Effect.gen(function* () {
      const at = yield* doors
      yield* at.serve
      yield* Deferred.succeed(at.gate, undefined)
      expect((yield* Effect.flip(at.command("a", "Open", { by: "nobody" }))).code).toBe("not_found")
      const broken = yield* Effect.exit(at.command("a", "Break", undefined))
      expect(Exit.isFailure(broken) && Cause.hasDies(broken.cause)).toBe(true)
      expect(yield* at.command("a", "Open", { by: "ann" })).toBe("a opened by ann")
    }).pipe(Effect.provide(ActorHost.layer))
  )

  it.effect("a record with 512 commands refuses more with a retryable 429, and another record does not", () =>
    Effect.gen(function* () {
      const at = yield* doors
      yield* at.serve
      const fibers = yield* Effect.forEach(Array.from({ length: 512 }), (_, index) =>
        Effect.forkChild(at.command("a", "Open", { by: String(index) }), { startImmediately: true })
      )
      expect(yield* Effect.flip(at.command("a", "Open", { by: "late" }))).toMatchObject({
        code: "rate_limited",
        retryAfter: 1
      })
      yield* Deferred.succeed(at.gate, undefined)
      expect(yield* at.command("b", "Open", { by: "ann" })).toBe("b opened by ann")
      yield* Fiber.joinAll(fibers)
      expect(yield* at.command("a", "Open", { by: "late" })).toBe("a opened by late")
    }).pipe(Effect.provide(ActorHost.layer))
  )

  it.effect("a command waits until its actors are served", () =>
    Effect.gen(function* () {
      const at = yield* doors
      const early = yield* open("a", "early", at)
      expect(at.begun).toEqual([])
      yield* at.serve
      yield* Deferred.succeed(at.gate, undefined)
      expect(yield* Fiber.join(early)).toBe("a opened by early")
    }).pipe(Effect.provide(ActorHost.layer))
  )
})

class Word extends Context.Service<Word, string>()("svc/test/Word") {}
const Known = Context.Reference<string>("svc/test/Known", { defaultValue: () => "default" })
/** What only the caller provides. */
const Own = Context.Reference<string>("svc/test/Own", { defaultValue: () => "default" })

const Echo = commandsOf("Echo", [Rpc.make("Say", { success: Schema.Array(Schema.String) })])

const needy = Effect.succeed((id: string) => ({ Say: () => Effect.map(Word, (word) => [id, word]) }))
type Behavior = Effect.Effect<(id: string) => Handlers<typeof Echo extends Commands<"Echo", infer Rpcs> ? Rpcs : never>>

test("a handler that needs a service is refused by its type: the service would be missing when it runs", () => {
  const isRefused: typeof needy extends Behavior ? false : true = true
  expect(isRefused).toBe(true)
})

describe("the layer of an actor", () => {
  it.effect("acquires its services once, and its commands see nothing of their caller but the span", () => {
    let builds = 0
    const echo = actorLayer(
      Echo,
      { make: (text: string) => text },
      Effect.gen(function* () {
        builds += 1
        const word = yield* Word
        const say = (id: string) => Effect.map(Effect.all([Known, Own]), (seen) => [id, word, ...seen])
        return (id: string) => handle(Echo, { Say: () => say(id) })
      })
    )
    const provided = Layer.mergeAll(Layer.succeed(Word, "hello"), Layer.succeed(Known, "provided"))
    return Effect.gen(function* () {
      const command = yield* commandsTo(Echo)
      const heard = command("a", "Say", undefined).pipe(
        Effect.provideService(Word, "the caller's"),
        Effect.provideService(Known, "the caller's"),
        Effect.provideService(Own, "the caller's"),
        Effect.withSpan("caller")
      )
      expect(yield* heard).toEqual(["a", "hello", "provided", "default"])
      expect((yield* command("b", "Say", undefined))[0]).toBe("b")
      expect(builds).toBe(1)
    }).pipe(Effect.provide(echo.pipe(Layer.provideMerge(ActorHost.layer), Layer.provide(provided))))
  })
})
