import { expect, test } from "bun:test"
import { Context, Effect, Layer, Tracer } from "effect"
import { provided, providedService } from "../../../actors/base/Provided.ts"
import { it } from "../../support/Effect.ts"

class One extends Context.Service<One, { readonly name: string }>()("test/One") {}
class Two extends Context.Service<Two, { readonly name: string }>()("test/Two") {}
/** A reference that each call provides separately. */
const Call = Context.Reference<string>("test/Call", { defaultValue: () => "default" })

const describe = Effect.fnUntraced(function* (greeting: string) {
  return [greeting, (yield* One).name, (yield* Two).name, yield* Call]
})
const make = provided(describe)

class Described extends Context.Service<
  Described,
  { readonly describe: (greeting: string) => Effect.Effect<ReadonlyArray<string>> }
>()("test/Described") {}
const layer = Layer.effect(
  Described,
  Effect.map(make, (call) => ({ describe: call }))
)
const built = layer.pipe(
  Layer.provide(Layer.mergeAll(Layer.succeed(One, { name: "one" }), Layer.succeed(Two, { name: "two" })))
)

test("a provided function requires no services itself, because its layer requires them", () => {
  type Needed = Layer.Services<typeof layer>
  type Left = Effect.Services<ReturnType<Effect.Success<typeof make>>>
  const isUnknown: unknown extends Needed ? true : false = false
  const isWhole: [One | Two] extends [Needed] ? true : false = true
  const isNoMore: [Needed] extends [One | Two] ? true : false = true
  const isFree: [Left] extends [never] ? true : false = true
  expect([isUnknown, isWhole, isNoMore, isFree]).toEqual([false, true, true, true])
})

it.effect("a provided function uses the services of its layer, regardless of its caller's services", () =>
  Effect.gen(function* () {
    const described = yield* Described
    expect(yield* described.describe("hello")).toEqual(["hello", "one", "two", "default"])
    const within = Effect.all([described.describe("hello"), Effect.serviceOption(One)])
    const [inside, after] = yield* Effect.provideService(within, One, { name: "another" })
    expect(inside).toEqual(["hello", "one", "two", "default"])
    expect(after).toMatchObject({ value: { name: "another" } })
  }).pipe(Effect.provide(built))
)

it.effect("a provided function keeps context that belongs to the call, such as the tracing span", () =>
  Effect.gen(function* () {
    const described = yield* Described
    expect(yield* described.describe("hello").pipe(Effect.provideService(Call, "mine"))).toEqual([
      "hello",
      "one",
      "two",
      "mine"
    ])
    const parent = yield* provided(() => Effect.map(Effect.serviceOption(Tracer.ParentSpan), (span) => span))
    const spans = yield* parent().pipe(Effect.withSpan("call"))
    expect(spans).toMatchObject({ value: { name: "call" } })
  }).pipe(Effect.withSpan("building"), Effect.provide(built))
)

class Several extends Context.Service<
  Several,
  {
    readonly one: Effect.Effect<string>
    readonly two: (greeting: string) => Effect.Effect<string>
    readonly length: (text: string) => number
    readonly version: string
  }
>()("test/Several") {}
const several = providedService(Several, {
  one: Effect.map(One, ({ name }) => name),
  two: (greeting) => Effect.map(Two, ({ name }) => `${greeting} ${name}`),
  length: (text) => text.length,
  version: "1"
})

test("a provided service requires the services that its effects and methods use, but none for its other members", () => {
  type Needed = Effect.Services<typeof several>
  const isUnknown: unknown extends Needed ? true : false = false
  const isWhole: [One | Two] extends [Needed] ? true : false = true
  const isNoMore: [Needed] extends [One | Two] ? true : false = true
  expect([isUnknown, isWhole, isNoMore]).toEqual([false, true, true])
})

it.effect("a provided service keeps its effects, methods and other members", () =>
  Effect.gen(function* () {
    const { length, one, two, version } = yield* Several
    expect([yield* one, yield* two("hello"), length("four"), version]).toEqual(["one", "hello two", 4, "1"])
  }).pipe(
    Effect.provide(
      Layer.effect(Several, several).pipe(
        Layer.provide(Layer.mergeAll(Layer.succeed(One, { name: "one" }), Layer.succeed(Two, { name: "two" })))
      )
    )
  )
)
