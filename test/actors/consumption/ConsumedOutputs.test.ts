import { expect, test } from "bun:test"
import {
  type ConsumedOutput,
  dependencyAdded,
  takenOf,
  unrecorded
} from "../../../actors/consumption/ConsumedOutputs.ts"

const taken: ConsumedOutput = { dependencyId: "dep_a", producerCapsuleId: "cap_a", input: "region", output: "region" }
const offer = { dependencyId: "dep_a", input: "region" }

test("an offer is compared with what the plan used of the same dependency for the same input", () => {
  const other = { ...taken, input: "zone" }
  expect(takenOf([other, taken], offer)).toEqual(taken)
  expect(takenOf([other, { ...taken, dependencyId: "dep_b" }], offer)).toBe(dependencyAdded)
  expect(takenOf([], offer)).toBe(dependencyAdded)
})

test("a dependency on the state itself has no input", () => {
  const everything: ConsumedOutput = { dependencyId: "dep_a", producerCapsuleId: "cap_a" }
  expect(takenOf([everything], { dependencyId: "dep_a", input: undefined })).toEqual(everything)
  expect(takenOf([everything], offer)).toBe(dependencyAdded)
})

test("a plan from a release that did not record what was delivered is void", () => {
  const old: ConsumedOutput = { dependencyId: "dep_a" }
  expect(takenOf([old], offer)).toBe(unrecorded)
  expect(takenOf([{ ...old, input: "region" }], offer)).toBe(unrecorded)
  expect(takenOf([{ ...old, dependencyId: "dep_b" }], offer)).toBe(dependencyAdded)
})
