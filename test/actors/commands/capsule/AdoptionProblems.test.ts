import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { adoptedOutputs } from "../../../../actors/commands/capsule/AdoptedOutputs.ts"
import { type AdoptionFacts, adoptionProblems } from "../../../../actors/commands/capsule/AdoptionProblems.ts"
import { namedRun, namedStateVersion } from "../../../support/NamedIds.ts"

const leftOver: AdoptionFacts["leftOver"] = {
  lineage: "one",
  serial: 5,
  resource_count: 3,
  state_version_id: namedStateVersion("a"),
  state_generation: 2,
  execution_authority_epoch: 1,
  adopted_at: null,
  discarded_at: null
}
const capsule: AdoptionFacts["capsule"] = {
  status: "error",
  current_state_version_id: namedStateVersion("a"),
  current_state_generation: 2,
  execution_authority_epoch: 1
}
const facts: AdoptionFacts = {
  leftOver,
  capsule,
  current: { lineage: "one", serial: 5 },
  openRun: undefined,
  isRestored: false
}
const codes = (given: Partial<AdoptionFacts>) => adoptionProblems({ ...facts, ...given }).map(({ code }) => code)
const left = (change: Partial<AdoptionFacts["leftOver"]>) => codes({ leftOver: { ...leftOver, ...change } })
const stands = (change: Partial<AdoptionFacts["capsule"]>) => codes({ capsule: { ...capsule, ...change } })

describe("Left-over states", () => {
  test("a left-over state may be adopted if it continues the current state, or if no current state exists", () => {
    expect(codes({})).toEqual([])
    expect(left({ serial: 6 })).toEqual([])
    expect(
      codes({
        leftOver: { ...leftOver, state_version_id: null, state_generation: 0 },
        capsule: { ...capsule, current_state_version_id: null, current_state_generation: 0 },
        current: undefined
      })
    ).toEqual([])
    expect(stands({ status: "disabled" })).toEqual([])
  })

  test("a left-over state cannot be adopted if it is older, incomplete, encrypted or from a different lineage", () => {
    expect(left({ lineage: "two" })).toEqual(["lineage_differs"])
    expect(left({ serial: 4 })).toEqual(["serial_older"])
    expect(left({ lineage: null, serial: null, resource_count: null })).toEqual(["unreadable"])
    expect(left({ resource_count: null })).toEqual(["encrypted"])
    expect(left({ resource_count: 0 })).toEqual([])
  })

  test("a left-over state cannot be adopted if its Capsule has changed in any way since the apply that wrote the state", () => {
    expect(stands({ current_state_version_id: namedStateVersion("b") })).toEqual(["capsule_moved"])
    expect(stands({ current_state_generation: 3 })).toEqual(["capsule_moved"])
    expect(stands({ execution_authority_epoch: 2 })).toEqual(["capsule_moved"])
    expect(stands({ current_state_version_id: null })).toEqual(["capsule_moved"])
  })

  test("a left-over state cannot be adopted during a Run, after a restore or after its Capsule has ended", () => {
    expect(stands({ status: "destroyed" })).toEqual(["capsule_ended"])
    expect(stands({ status: "released" })).toEqual(["capsule_ended"])
    expect(codes({ openRun: { id: namedRun("a"), type: "plan", status: "queued" } })).toEqual(["run_open"])
    expect(codes({ isRestored: true })).toEqual(["restored"])
  })

  test("for a left-over state that was adopted or discarded, svc reports only that decision", () => {
    expect(left({ adopted_at: "2026-01-01T00:00:00.000Z", lineage: "two" })).toEqual(["adopted"])
    expect(left({ discarded_at: "2026-01-01T00:00:00.000Z", serial: 1 })).toEqual(["discarded"])
  })

  test("svc reports every problem that blocks an adoption, each with its message, and no others", () => {
    const flags = fc.record({
      lineage: fc.boolean(),
      older: fc.boolean(),
      moved: fc.constantFrom("no", "version", "generation", "epoch"),
      ended: fc.boolean(),
      open: fc.boolean(),
      isRestored: fc.boolean()
    })
    fc.assert(
      fc.property(flags, ({ ended, isRestored, lineage, moved, older, open }) => {
        const problems = adoptionProblems({
          leftOver: { ...leftOver, lineage: lineage ? "two" : "one", serial: older ? 4 : 5 },
          capsule: {
            status: ended ? "destroyed" : "error",
            current_state_version_id: moved === "version" ? namedStateVersion("b") : namedStateVersion("a"),
            current_state_generation: moved === "generation" ? 3 : 2,
            execution_authority_epoch: moved === "epoch" ? 2 : 1
          },
          current: facts.current,
          openRun: open ? { id: namedRun("a"), type: "apply", status: "running" } : undefined,
          isRestored
        })
        expect(problems.map(({ code }) => code)).toEqual([
          ...(lineage ? ["lineage_differs" as const] : older ? ["serial_older" as const] : []),
          ...(ended ? ["capsule_ended" as const] : []),
          ...(moved === "no" ? [] : ["capsule_moved" as const]),
          ...(isRestored ? ["restored" as const] : []),
          ...(open ? ["run_open" as const] : [])
        ])
        expect(new Set(problems.map(({ message }) => message)).size).toBe(problems.length)
      })
    )
  })
})

test("an adopted Output is public only if the previous state published the same value under the same name", () => {
  const output = (name: string, value: string, sensitive = false) => ({
    name,
    type: "string",
    value: Redacted.make(value),
    sensitive
  })
  const given = [
    output("same", "a"),
    output("changed", "b"),
    output("fresh", "c"),
    output("secret", "d", true),
    output("sealed", "e"),
    output("moved", "a")
  ]
  const before = [
    { name: "same", value: '"a"', sensitive: 0 as const },
    { name: "changed", value: '"a"', sensitive: 0 as const },
    { name: "secret", value: '"d"', sensitive: 0 as const },
    { name: "sealed", value: null, sensitive: 1 as const }
  ]
  const isPublic = (outputs: ReturnType<typeof adoptedOutputs>) =>
    outputs.filter(({ sensitive }) => !sensitive).map(({ name }) => name)
  expect(isPublic(adoptedOutputs(given, before))).toEqual(["same"])
  expect(isPublic(adoptedOutputs(given, []))).toEqual([])
})
