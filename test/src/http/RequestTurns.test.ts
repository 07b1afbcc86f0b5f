import { expect, test } from "bun:test"
import { requestTurns } from "../../../src/http/RequestTurns.ts"

/**
 * Sends requests that each block the main thread for this many milliseconds before their first asynchronous wait. Returns
 * the requests that started in each turn.
 */
const begunBy = async (addresses: ReadonlyArray<string>, millis: number) => {
  let time = 0n
  const { begin } = requestTurns(() => time)
  const turns = new Map<object, Array<string>>()
  const answers = addresses.map((address) =>
    begin(address, (turn) => {
      time += BigInt(millis) * 1_000_000n
      turns.set(turn, [...(turns.get(turn) ?? []), address])
      return Promise.resolve(address)
    })
  )
  expect(await Promise.all(answers)).toEqual([...addresses])
  return [...turns.values()]
}

test("the main thread starts requests for a limited time per turn", async () => {
  const turns = await begunBy(
    Array.from({ length: 1000 }, () => "a"),
    1
  )
  expect(turns.flat()).toHaveLength(1000)
  expect(turns.length).toBeGreaterThan(40)
  expect(Math.max(...turns.map((begun) => begun.length))).toBeLessThanOrEqual(21)
})

test("the main thread starts a few requests immediately, in order of arrival", async () => {
  expect(await begunBy(["a", "b", "a", "c"], 1)).toEqual([["a", "b", "a", "c"]])
})

test("a client that sends many requests does not hold up other clients", async () => {
  const turns = await begunBy([...Array.from({ length: 1000 }, () => "a"), "b"], 1)
  expect(turns.flat().indexOf("b")).toBeLessThan(50)
})
