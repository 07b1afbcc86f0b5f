import { describe, expect, test } from "bun:test"
import { changeCauses, type PlanEvidence } from "../../../../actors/ledger/staleness/ChangeCauseDecision.ts"
import type { ResourceChange } from "../../../../schema/records/PlanDetails.ts"

const commit = { kind: "commit", from: "a1", to: "b2", fileCount: 1 } as const
const size = { input: "size", change: "changed" } as const
const inputCause = { kind: "input", ...size } as const
const upstream = { input: "vpc", change: "changed" } as const

const updated = (more: Partial<ResourceChange> = {}): ResourceChange => ({
  address: "demo.it",
  mode: "managed",
  type: "demo",
  name: "it",
  provider: "example.test/acme/demo",
  actions: ["update"],
  changedAttributes: [{ name: "size", before: 1, after: 2 }],
  references: [{ attribute: "size", literal: true }],
  ...more
})

const drifted = (more: Partial<ResourceChange> = {}) =>
  updated({ changedAttributes: [{ name: "size", before: 2, after: 1 }], ...more })

const judged = (change: ResourceChange, { evidence, ...more }: Partial<PlanEvidence> = {}) => {
  const found = changeCauses({
    evidence: { resourceChanges: [change], ...evidence },
    commit: undefined,
    changedInputs: [],
    isUnfinished: false,
    others: [],
    unknown: [],
    ...more
  })
  const [resource] = found.resources
  return { plan: found.causes, certain: resource?.certain, causes: resource?.causes }
}

const readsSize = updated({ references: [{ attribute: "size", inputs: ["size"] }] })

describe("Change causes", () => {
  test("the cause of a change is the commit if no other difference affects the resource", () => {
    expect(judged(updated(), { commit, changedInputs: [size] })).toEqual({
      plan: [commit, inputCause],
      certain: true,
      causes: [commit]
    })
  })

  test("the cause of a change is the input that its attribute refers to, or the Capsule that fills the input", () => {
    expect(judged(readsSize, { changedInputs: [size] })).toMatchObject({ certain: true, causes: [inputCause] })
    const injected = updated({ references: [{ attribute: "size", inputs: ["vpc"] }] })
    expect(judged(injected, { changedInputs: [size], evidence: { injectedInputs: [upstream] } })).toMatchObject({
      certain: true,
      causes: [{ kind: "dependency", ...upstream }]
    })
  })

  test("the cause of a change to a deposed object is the apply that left the object behind, regardless of the live object", () => {
    const change = updated({ actions: ["delete"], deposed: "0a1b2c3d" })
    const drift = { resourceDrift: [drifted({ actions: ["delete"] })] }
    expect(judged(change, { commit, evidence: drift }).causes).toEqual([{ kind: "unfinished" }])
    const live = updated({ actions: ["create"] })
    const deposedDrift = { resourceDrift: [drifted({ actions: ["delete"], deposed: "0a1b2c3d" })] }
    expect(judged(live, { commit, evidence: deposedDrift }).causes).toEqual([commit])
  })

  test("the cause of a change is undecided if both a commit and an input can affect the resource", () => {
    expect(judged(readsSize, { commit, changedInputs: [size] })).toMatchObject({
      certain: false,
      causes: [inputCause, commit]
    })
  })

  test("any changed input may be the cause of a change if the configuration is not fully described", () => {
    const hidden = updated({ references: [{ attribute: "size", partial: true }] })
    expect(judged(hidden, { changedInputs: [size, { ...size, input: "b" }] })).toMatchObject({
      certain: false,
      causes: [inputCause, { ...inputCause, input: "b" }]
    })
    expect(judged(updated({ references: [] }), { changedInputs: [size], others: [{ kind: "tool" }] })).toMatchObject({
      certain: false,
      causes: [inputCause, { kind: "tool" }]
    })
  })

  test("the cause of a change is drift if the plan exactly reverts an external change", () => {
    const drift = { kind: "drift", addresses: ["demo.it"], count: 1 }
    const restored = { evidence: { resourceDrift: [drifted()] }, commit, changedInputs: [size] }
    expect(judged(updated(), { ...restored, unknown: ["inputs"] })).toMatchObject({ certain: true, causes: [drift] })
    // The plan does not restore the former value, so drift may not be the cause.
    const other = {
      ...restored,
      evidence: { resourceDrift: [drifted({ changedAttributes: [{ name: "size", before: 9 }] })] }
    }
    expect(judged(updated(), other)).toMatchObject({ certain: false, causes: [drift, commit] })
    const hidden = [{ name: "size", before: "(sensitive value)", after: 1 }]
    const masked = updated({ changedAttributes: [{ name: "size", before: 1, after: "(sensitive value)" }] })
    expect(
      judged(masked, { commit, evidence: { resourceDrift: [drifted({ changedAttributes: hidden })] } })
    ).toMatchObject({
      certain: false,
      causes: [drift, commit]
    })
    const deleted = { evidence: { resourceDrift: [drifted({ actions: ["delete"] })] }, commit }
    expect(judged(updated({ actions: ["create"] }), deleted)).toMatchObject({ certain: true, causes: [drift] })
  })

  test("the cause of a change can be another planned resource that the changed resource refers to", () => {
    const change = updated({ references: [{ attribute: "size", resources: ["demo.base", "demo.still"] }] })
    const base = updated({ address: "demo.base[0]", name: "base" })
    expect(judged(change, { evidence: { resourceChanges: [change, base] } })).toMatchObject({
      certain: true,
      causes: [{ kind: "resource", addresses: ["demo.base"], count: 1 }]
    })
  })

  test("a resource is never the cause of its own change, even if its parts refer to each other", () => {
    expect(judged(updated({ references: [{ attribute: "size", resources: ["demo.it"] }] }))).toMatchObject({
      certain: false,
      causes: []
    })
  })

  test("the cause of a change is never certain if the value depends on a data source", () => {
    const change = updated({ references: [{ attribute: "size", resources: ["module.m.data.demo.found"] }] })
    expect(judged(change)).toMatchObject({
      certain: false,
      causes: [{ kind: "data", addresses: ["module.m.data.demo.found"], count: 1 }]
    })
  })

  test("the cause of a change may be a function that returns a different result each time", () => {
    const stamped = updated({
      changedAttributes: [{ name: "at", before: "2026-01-01T00:00:00Z", after: "2026-01-02T00:00:00Z" }],
      references: [{ attribute: "at" }]
    })
    expect(judged(stamped)).toMatchObject({ certain: true, causes: [{ kind: "function" }] })
    expect(judged(stamped, { commit })).toMatchObject({ certain: false, causes: [commit, { kind: "function" }] })
  })

  test("a new or removed instance has the same cause as the change to the instance count", () => {
    const counted = { references: [{ inputs: ["size"] }], changedAttributes: [] }
    expect(judged(updated({ ...counted, actions: ["create"] }), { changedInputs: [size] })).toMatchObject({
      certain: true,
      causes: [inputCause]
    })
    const { references: _, ...gone } = updated({ actions: ["delete"], reason: "delete_because_no_resource_config" })
    expect(judged(gone, { commit, changedInputs: [size] })).toMatchObject({ certain: true, causes: [commit] })
    expect(judged({ ...gone, reason: "delete_because_count_index" }, { commit, changedInputs: [size] })).toMatchObject({
      certain: false,
      causes: [inputCause, commit]
    })
  })

  test("the cause of a change is undecided after an incomplete apply, unless that apply tainted the resource", () => {
    expect(judged(updated(), { commit, isUnfinished: true })).toMatchObject({
      certain: false,
      causes: [commit, { kind: "unfinished" }]
    })
    const tainted = updated({ actions: ["delete", "create"], reason: "replace_because_tainted" })
    expect(judged(tainted, { commit })).toMatchObject({ certain: true, causes: [{ kind: "unfinished" }] })
  })

  test("the cause of a change is uncertain if svc could not compare inputs or commits", () => {
    expect(judged(updated(), { commit, unknown: ["inputs"] })).toMatchObject({ certain: false, causes: [commit] })
    expect(judged(updated())).toEqual({ plan: [], certain: false, causes: [] })
    expect(judged(updated(), { others: [{ kind: "operator" }, { kind: "tool" }] })).toMatchObject({
      certain: false,
      causes: [{ kind: "operator" }, { kind: "tool" }]
    })
  })
})
