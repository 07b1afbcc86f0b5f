import { expect, test } from "bun:test"
import { offersFrom, type ProducedOutputs } from "../../../../actors/ledger/consumption/OfferedOutputs.ts"
import type { OutputRow } from "../../../../actors/ledger/state/StateVersionRow.ts"
import { OutputId } from "../../../../schema/records/Ids.ts"
import {
  namedCapsule,
  namedDependency,
  namedShare,
  namedStateVersion,
  namedWorkspace
} from "../../../support/NamedIds.ts"

const version = namedStateVersion("a")

const output = (name: string, different: Partial<OutputRow> = {}): OutputRow => ({
  id: OutputId.make(`out_0000000000000000000000${name.padEnd(2, "0")}`),
  workspace_id: namedWorkspace("a"),
  capsule_id: namedCapsule("a"),
  state_version_id: version,
  name,
  type: '"string"',
  value: '"x"',
  sealed_value: null,
  sensitive: 0,
  private_origins: null,
  ...different
})

const open = output("a")
const secret = output("b", { sensitive: 1, value: null, sealed_value: "sealed" })
const repeating = output("c", { ...secret, name: "c", private_origins: '["env.TOKEN"]' })

const produced: ProducedOutputs = {
  found: {
    name: "network",
    workspace_id: namedWorkspace("a"),
    current_state_version_id: version,
    status: "active",
    release_reason: null
  },
  outputs: [open, secret, repeating],
  shared: undefined
}
const wanted = ["a", "b", "c", "d"].map((from) => ({ from, to: `in_${from}`, required: false }))
const given = (
  mode: Parameters<typeof offersFrom>[0]["mode"],
  different: Partial<ProducedOutputs> = {},
  names = wanted
) => {
  const dependency = { dependencyId: namedDependency("a"), mode, producerCapsuleId: namedCapsule("a"), wanted: names }
  return offersFrom(dependency, { ...produced, ...different })
}
const names = (offers: ReturnType<typeof given>) => offers.map((offer) => offer.given.map(({ name }) => name).join())

test("a variable injection may carry secrets within a Workspace, but a published Output may not", () => {
  expect(names(given("variable_injection"))).toEqual(["a", "b", "c", ""])
  expect(names(given("published_output"))).toEqual(["a", "", "", ""])
})

test("svc reports the reason for withholding an Output, and says which secret the Output repeats only within the same Workspace", () => {
  expect(given("published_output").map(({ withheld }) => withheld)).toEqual([
    undefined,
    undefined,
    "The Output c is private: it repeats env.TOKEN.",
    undefined
  ])
  const shared = new Map([["c", { shareId: namedShare("a"), name: "c" }]])
  expect(given("variable_injection", { shared })[2]?.withheld).toBe("The Output c is private: it repeats a secret.")
})

test("another Workspace receives shared Outputs under the names in the share, and never receives secrets", () => {
  const shared = new Map([
    ["alias", { shareId: namedShare("a"), name: "a" }],
    ["b", { shareId: namedShare("b"), name: "b" }]
  ])
  const asked = ["alias", "a", "b"].map((from) => ({ from, to: from, required: true }))
  for (const mode of ["variable_injection", "published_output"] as const) {
    const offers = given(mode, { shared }, asked)
    expect(names(offers)).toEqual(["a", "", ""])
    expect(offers.map(({ outputShareId }) => outputShareId)).toEqual([namedShare("a"), undefined, namedShare("b")])
    expect(offers.map(({ name }) => name)).toEqual(["a", undefined, "b"])
  }
  expect(names(given("variable_injection", { shared: new Map() }))).toEqual(["", "", "", ""])
})

test("a dependency on the whole state receives all Outputs in one offer and fills no input", () => {
  const [offer, ...more] = given("remote_state")
  expect(more).toEqual([])
  expect([offer?.input, offer?.output, offer?.given.length, offer?.required]).toEqual([undefined, undefined, 3, false])
})

test.each([
  ["destroyed", null, "It was destroyed."],
  ["released", "moved_elsewhere", "It was released: it moved elsewhere."],
  ["released", "infrastructure_gone", "It was released: its infrastructure is gone."]
] as const)("a producer that was %s (%s) has no name and no state, and reports its end", (status, reason, words) => {
  const found = produced.found === undefined ? undefined : { ...produced.found, status, release_reason: reason }
  const [offer] = given("variable_injection", { found, outputs: [] })
  expect([offer?.producerName, offer?.stateVersionId]).toEqual([undefined, undefined])
  expect(offer?.ended).toStartWith(words)
})

test("a producer that was deleted or never applied offers nothing, and is not reported as ended", () => {
  const [gone] = given("variable_injection", { found: undefined, outputs: [] })
  expect([gone?.given, gone?.ended, gone?.stateVersionId]).toEqual([[], undefined, undefined])
  const unapplied = produced.found === undefined ? undefined : { ...produced.found, current_state_version_id: null }
  const [fresh] = given("variable_injection", { found: unapplied, outputs: [] })
  expect([fresh?.producerName, fresh?.ended, fresh?.stateVersionId]).toEqual(["network", undefined, undefined])
})
