import { NodeCrypto } from "@effect/platform-node"
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { idBytes, IdOrder, makeIdOrder, newId } from "../../../actors/base/Identity.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { it } from "../../support/Effect.ts"

const bytes = (fill: number) => new Uint8Array(idBytes).fill(fill)

describe("ids", () => {
  it.effect("ids created in the same millisecond ascend", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.replicateEffect(newId(RunId, "run"), 2000)
      expect(ids).toEqual(ids.toSorted())
      expect(new Set(ids).size).toBe(ids.length)
    }).pipe(Effect.provide(NodeCrypto.layer), Effect.provideService(IdOrder, makeIdOrder()))
  )

  test("an id in the same millisecond adds a random 88-bit number to the previous id", () => {
    const order = makeIdOrder()
    expect(order.next(bytes(0x10), 0)).toEqual(bytes(0x10))
    const carried = [0x10, 0x10, 0x10, 0x11, ...bytes(0x10).slice(4)]
    expect(order.next(bytes(0xff), 1)).toEqual(Uint8Array.from(carried))
    // The next id differs even if all random bytes are zero.
    expect(order.next(bytes(0), 2)).toEqual(Uint8Array.from([...carried.slice(0, -1), 0x11]))
  })

  test("an id is fully random after a pause, or after the clock was set far back", () => {
    const order = makeIdOrder()
    order.next(bytes(0x70), 1000)
    expect(order.next(bytes(0x60), 1101)).toEqual(bytes(0x60))
    expect(order.next(bytes(0x50), 500)).toEqual(bytes(0x50))
    expect(order.next(bytes(0x40), 400)).toEqual(
      Uint8Array.from([...bytes(0x50).slice(0, 4), ...bytes(0x90).slice(5), 0x91])
    )
  })
})
