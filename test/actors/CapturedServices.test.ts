import { describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { captureServices, provideCaptured } from "../../actors/CapturedServices.ts"

class One extends Context.Service<One, { readonly name: string }>()("test/One") {}
class Two extends Context.Service<Two, { readonly name: string }>()("test/Two") {}
const Setting = Context.Reference<string>("test/Setting", { defaultValue: () => "default" })

const namesNow = Effect.gen(function* () {
  return [(yield* One).name, (yield* Two).name, yield* Setting]
})

const built = Context.make(One, { name: "one" }).pipe(
  Context.add(Two, { name: "two" }),
  Context.add(Setting, "of the builder")
)

const run = <A, E>(effect: Effect.Effect<A, E>, context: Context.Context<never>) =>
  Effect.runSync(Effect.provideContext(effect, context))

describe("captured services", () => {
  const both = Effect.runSync(Effect.provideContext(captureServices(One, Two), built))

  test("are added to a context that lacks them, without other services of the builder", () => {
    expect(run(provideCaptured(namesNow, both), Context.empty())).toEqual(["one", "two", "default"])
    expect(run(provideCaptured(namesNow, both), Context.make(Setting, "of the caller"))).toEqual([
      "one",
      "two",
      "of the caller"
    ])
  })

  test("replace the caller's services only within the effect", () => {
    const other = Context.make(One, { name: "another" })
    const outside = Effect.serviceOption(One)
    const [inside, after] = run(Effect.all([provideCaptured(namesNow, both), outside]), other)
    expect(inside).toEqual(["one", "two", "default"])
    expect(after).toMatchObject({ value: { name: "another" } })
  })

  test("do not change a context that already has them", () => {
    const seen = provideCaptured(Effect.context<never>(), both)
    const [before, within] = Effect.runSync(Effect.provideContext(Effect.all([Effect.context<never>(), seen]), built))
    expect(within).toBe(before)
  })

  test("do not satisfy a requirement that was not captured", () => {
    const one = Effect.runSync(Effect.provideContext(captureServices(One), built))
    const provided = provideCaptured(namesNow, one)
    const isTwoNeeded: [Two] extends [Effect.Services<typeof provided>] ? true : false = true
    expect(isTwoNeeded).toBe(true)
    expect(Effect.runSync(Effect.provideContext(provided, built))).toEqual(["one", "two", "of the builder"])
  })
})
