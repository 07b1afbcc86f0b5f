import { afterAll, expect, test } from "bun:test"
import { Context, Effect, Layer, Schema } from "effect"
import { Entity, TestRunner } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { commandsTo } from "../../actors/ActorClient.ts"
import { ActorHost, type Handlers } from "../../actors/ActorHost.ts"
import { actorLayer, handle, ReferenceKeys, withSmallContext } from "../../actors/ActorLayer.ts"
import { suite } from "../support/Effect.ts"

class Word extends Context.Service<Word, string>()("svc/test/Word") {}
const Known = Context.Reference<string>("svc/test/Known", { defaultValue: () => "default" })
const Unknown = Context.Reference<string>("svc/test/Unknown", { defaultValue: () => "default" })

const Echo = Entity.make("Echo", [Rpc.make("Say", { success: Schema.Array(Schema.String) })])

const EchoId = { make: (text: string) => text }

let builds = 0
const builtFor: Array<string> = []

const echo = actorLayer(
  Echo,
  EchoId,
  Effect.gen(function* () {
    builds += 1
    const word = yield* Word
    return (id: string) => {
      builtFor.push(id)
      return handle(Echo, {
        Say: () =>
          Effect.gen(function* () {
            const context = yield* Effect.context<never>()
            const isThere = Context.getOrUndefined(context, Word) !== undefined
            return [id, word, yield* Known, yield* Unknown, isThere ? "with services" : "without services"]
          })
      })
    }
  })
)

const needy = Effect.succeed((id: string) => ({ Say: () => Effect.map(Word, (word) => [id, word]) }))
type Messages = typeof Echo extends Entity.Entity<"Echo", infer Rpcs> ? Rpcs : never
type Behavior = Effect.Effect<(id: string) => Handlers<Messages>>

test("a handler that needs a service is refused by its type: the service would be missing when it runs", () => {
  const isRefused: typeof needy extends Behavior ? false : true = true
  expect(isRefused).toBe(true)
})

const provided = Layer.mergeAll(
  Layer.succeed(Word, "hello"),
  Layer.succeed(Known, "provided"),
  Layer.succeed(Unknown, "provided"),
  Layer.succeed(ReferenceKeys, new Set([Known.key]))
)

const tests = suite(
  echo.pipe(
    Layer.provideMerge(withSmallContext(TestRunner.layer)),
    Layer.provideMerge(ActorHost.layer),
    Layer.provide(provided)
  )
)
afterAll(tests.dispose)

tests.live(
  "an actor's context has the listed references and no services; its behavior is acquired once for all records",
  () =>
    Effect.gen(function* () {
      const stored = yield* Echo.client
      const command = yield* commandsTo(Echo)
      const said = ["a", "hello", "provided", "default", "without services"]
      expect(yield* stored("a").Say()).toEqual(said)
      const heard = command("a", "Say", undefined).pipe(
        Effect.provideService(Word, "the caller's"),
        Effect.provideService(Known, "the caller's"),
        Effect.withSpan("caller")
      )
      expect(yield* heard).toEqual(said)
      expect((yield* command("b", "Say", undefined))[0]).toBe("b")
      expect(builds).toBe(1)
      // A stored message and two commands later.
      yield* command("a", "Say", undefined)
      expect(builtFor).toEqual(["a", "b"])
    })
)
