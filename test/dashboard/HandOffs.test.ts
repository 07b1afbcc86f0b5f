import { describe, expect, test } from "bun:test"
import { handOffKeptMs, leadsTo, parseHandOff } from "../../src/dashboard/app/HandOffs.ts"

const handOff = { product: "notes", returnUri: "https://notes.example/connected" }
const since = 1_000_000

describe("Stored hand-offs", () => {
  test("a stored hand-off round-trips", () => {
    const kept = { ...handOff, since, endedWith: "run_1" }
    expect(parseHandOff(JSON.stringify(kept), since + 1)).toEqual(kept)
  })

  test.each([
    null,
    "",
    "{",
    "[]",
    "null",
    JSON.stringify(handOff),
    JSON.stringify({ ...handOff, since: "1" }),
    JSON.stringify({ product: "notes", returnUri: 7, since })
  ])("a stored hand-off is absent when the storage contains %p", (text) => {
    expect(parseHandOff(text, since)).toBeUndefined()
  })

  test("a stored hand-off expires when plans created at the same time can no longer be approved", () => {
    const text = JSON.stringify({ ...handOff, since })
    expect(parseHandOff(text, since + handOffKeptMs)).toEqual({ ...handOff, since })
    expect(parseHandOff(text, since + handOffKeptMs + 1)).toBeUndefined()
  })

  test("a stored hand-off leads only to the address given at the start, never to a similar address", () => {
    expect(leadsTo("https://notes.example/connected?run_id=1", handOff)).toBe(true)
    for (const other of [
      "https://notes.example/connected",
      "https://notes.example/connected.evil.example/?x",
      "https://notes.example/connected/more?x",
      "javascript:alert(1)//https://notes.example/connected?x"
    ]) {
      expect(leadsTo(other, handOff)).toBe(false)
    }
  })
})
