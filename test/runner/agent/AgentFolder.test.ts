import { expect } from "bun:test"
import { Effect } from "effect"
import { AgentFolder } from "../../../runner/agent/AgentFolder.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

/** Opens the same agent's folder twice, as two processes would. */
const two = Effect.gen(function* () {
  const path = yield* temporaryFolder
  const one = Effect.provide(AgentFolder, AgentFolder.layerAt(path), { local: true })
  return [yield* one, yield* one] as const
})

it.live("two agent processes that start together create only one key pair and one next key pair", () =>
  Effect.gen(function* () {
    const [one, other] = yield* two
    const same = Effect.fnUntraced(function* (of: (folder: AgentFolder["Service"]) => typeof one.keys) {
      const [first, ...more] = yield* Effect.all([of(one), of(other), of(one)], { concurrency: "unbounded" })
      expect(more.map((keys) => keys.public)).toEqual([first.public, first.public])
      return first.public
    })
    const present = yield* same(({ keys }) => keys)
    const next = yield* same(({ prepareKeys }) => prepareKeys)
    expect((yield* one.keys).public).toEqual(present)
    expect(next.sign).not.toBe(present.sign)
  })
)

it.live(
  "a late response does not change keys that another process adopted or announced before the response arrived",
  () =>
    Effect.gen(function* () {
      const [one, late] = yield* two
      yield* one.keys
      const second = yield* late.prepareKeys
      yield* one.takeNextKeys(second)
      const third = yield* one.prepareKeys
      yield* late.takeNextKeys(second)
      yield* late.dropNextKeys(second)
      expect((yield* one.prepareKeys).public).toEqual(third.public)
      yield* one.takeNextKeys(third)
      yield* late.takeNextKeys(second)
      yield* late.dropNextKeys(third)
      expect((yield* late.keys).public).toEqual(third.public)
      expect((yield* late.nextKeys)._tag).toBe("None")
    })
)

it.live(
  "an agent process that accepts jobs waits for a command that tests the lock, but not for another such process",
  () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      const looking = Effect.scoped(Effect.andThen(one.lock, Effect.sleep("300 millis")))
      const [, isTaken] = yield* Effect.all([looking, Effect.delay(Effect.scoped(other.lock), "100 millis")], {
        concurrency: "unbounded"
      })
      expect(isTaken).toBe(true)
      expect(yield* one.lock).toBe(true)
      expect(yield* Effect.scoped(other.lock)).toBe(false)
    })
)
