import { expect, test } from "bun:test"
import {
  type ConsumedOutput,
  dependencyAdded,
  takenOf,
  unrecorded
} from "../../../../actors/ledger/consumption/ConsumedOutputs.ts"
import { namedCapsule, namedDependency } from "../../../support/NamedIds.ts"

const taken: ConsumedOutput = {
  dependencyId: namedDependency("a"),
  producerCapsuleId: namedCapsule("a"),
  input: "region",
  output: "region"
}
const offer = { dependencyId: namedDependency("a"), input: "region" }

test("an offered Output is compared with the value that the plan received for the same dependency and input", () => {
  const other = { ...taken, input: "zone" }
  expect(takenOf([other, taken], offer)).toEqual(taken)
  expect(takenOf([other, { ...taken, dependencyId: namedDependency("b") }], offer)).toBe(dependencyAdded)
  expect(takenOf([], offer)).toBe(dependencyAdded)
})

test("a dependency on the producer's whole state fills no individual input", () => {
  const everything: ConsumedOutput = { dependencyId: namedDependency("a"), producerCapsuleId: namedCapsule("a") }
  expect(takenOf([everything], { dependencyId: namedDependency("a"), input: undefined })).toEqual(everything)
  expect(takenOf([everything], offer)).toBe(dependencyAdded)
})

test("a plan from a release that did not record delivered Outputs is void", () => {
  const old: ConsumedOutput = { dependencyId: namedDependency("a") }
  expect(takenOf([old], offer)).toBe(unrecorded)
  expect(takenOf([{ ...old, input: "region" }], offer)).toBe(unrecorded)
  expect(takenOf([{ ...old, dependencyId: namedDependency("b") }], offer)).toBe(dependencyAdded)
})
