import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { InstallConfigId } from "../../../../schema/records/Ids.ts"
import type { DifferenceCode } from "../../../../schema/records/CarryOver.ts"
import {
  appliesCarried,
  type CarryFacts,
  differences,
  type PlanBasis
} from "../../../../actors/running/carry-over/CarryOverDecision.ts"

const configId = (letter: string) => InstallConfigId.make(`icfg_${letter.repeat(24)}`)

const basis: PlanBasis = {
  changeDigest: "hmac-sha256:a",
  installConfigId: configId("a"),
  epoch: 1,
  stateGeneration: 3,
  providerLockDigest: "sha256:l",
  tool: { name: "opentofu", version: "1.11.4" },
  profile: "default",
  profileDigest: "sha256:p",
  pool: "local",
  network: "restricted",
  operatorDigest: undefined,
  bindings: "[]",
  deliveries: "{}",
  provided: [{ name: "aws", mark: "m" }]
}

const equal: CarryFacts = {
  approved: basis,
  planned: basis,
  files: { kind: "untouched" },
  movedInputs: undefined,
  movedConnections: undefined,
  rulesNow: "[]",
  rulesThen: ["[]", "[]"],
  allowed: ["approval", "approval_and_apply"],
  missing: undefined,
  isStale: false,
  isUncertain: false,
  isUsed: false
}

const codesOf = (facts: CarryFacts) => differences(facts).map(({ code }) => code)

describe("Change approvals", () => {
  test("approvals of a change are carried over if nothing differs", () => {
    expect(differences(equal)).toEqual([])
  })

  test.each<readonly [string, Partial<PlanBasis>, DifferenceCode]>([
    ["the change", { changeDigest: "hmac-sha256:b" }, "change"],
    ["the configuration", { installConfigId: configId("b") }, "configuration"],
    ["the operator's base configuration", { operatorDigest: "sha256:o" }, "configuration"],
    ["a binding or the version of a Connection", { bindings: "[1]" }, "connection"],
    ["the epoch", { epoch: 2 }, "authority"],
    ["the state", { stateGeneration: 4 }, "state"],
    ["the provider lock", { providerLockDigest: "sha256:m" }, "provider_lock"],
    ["the presence of a provider lock", { providerLockDigest: undefined }, "provider_lock"],
    ["the version of the tool", { tool: { name: "opentofu", version: "1.11.5" } }, "tool"],
    ["the tool", { tool: { name: "terraform", version: "1.11.4" } }, "tool"],
    ["the profile", { profile: "other" }, "profile"],
    ["the profile's content", { profileDigest: "sha256:q" }, "profile"],
    ["the pool", { pool: "agents" }, "profile"],
    ["the network", { network: "none" }, "profile"],
    ["the deliveries", { deliveries: "{1}" }, "deliveries"],
    ["the agent's credentials", { provided: [{ name: "aws", mark: "n" }] }, "agent_credentials"],
    ["the presence of the agent's credentials", { provided: [] }, "agent_credentials"]
  ])("are not carried over if %s differs on one side", (_what, changed, code) => {
    expect(codesOf({ ...equal, planned: { ...basis, ...changed } })).toEqual([code])
    expect(codesOf({ ...equal, approved: { ...basis, ...changed } })).toEqual([code])
  })

  test.each<readonly [string, Partial<PlanBasis>, DifferenceCode]>([
    ["digest of the change", { changeDigest: null }, "unknown"],
    ["tool", { tool: undefined }, "tool"],
    ["deliveries", { deliveries: undefined }, "deliveries"],
    ["credentials", { provided: undefined }, "agent_credentials"],
    ["mark of a credential", { provided: [{ name: "aws" }] }, "agent_credentials"]
  ])("are not carried over if the %s is unknown on both sides", (_what, unknown, code) => {
    const side = { ...basis, ...unknown }
    expect(codesOf({ ...equal, approved: side, planned: side })).toEqual([code])
  })

  test.each<readonly [string, Partial<CarryFacts>, DifferenceCode]>([
    // Only the comparison of files detects a change to a provisioner's command, or to a value that the plan cannot show yet.
    ["a file of the module graph differs", { files: { kind: "touched", because: "main.tf changed" } }, "files"],
    ["an injected Output has another value", { movedInputs: "moved" }, "inputs"],
    ["a Connection was rotated or revoked", { movedConnections: "rotated" }, "connection"],
    ["a rule was changed after one of the approvals", { rulesThen: ["[]", "[1]"] }, "rule"],
    ["one rule does not allow it", { allowed: ["approval", "off"] }, "off"],
    ["there is no rule", { allowed: [] }, "off"],
    ["an approver is missing", { missing: "1 more approval" }, "approver"],
    ["the branch is stale", { isStale: true }, "stale"],
    ["it is uncertain which objects exist", { isUncertain: true }, "uncertain"],
    ["the approvals were used before", { isUsed: true }, "used"]
  ])("are not carried over if %s", (_what, changed, code) => {
    expect(codesOf({ ...equal, ...changed })).toEqual([code])
  })

  test("are carried over exactly if none of the generated facts differs, and otherwise every reason is named", () => {
    const changes: ReadonlyArray<readonly [DifferenceCode, (facts: CarryFacts) => CarryFacts]> = [
      ...(
        [
          ["change", { changeDigest: "hmac-sha256:b" }],
          ["configuration", { installConfigId: configId("b") }],
          ["connection", { bindings: "[1]" }],
          ["authority", { epoch: 2 }],
          ["state", { stateGeneration: 4 }],
          ["provider_lock", { providerLockDigest: undefined }],
          ["tool", { tool: { name: "terraform", version: "1.11.4" } }],
          ["profile", { network: "none" }],
          ["deliveries", { deliveries: "{1}" }],
          ["agent_credentials", { provided: [] }]
        ] as const
      ).map(
        ([code, changed]) =>
          [code, (facts: CarryFacts): CarryFacts => ({ ...facts, planned: { ...facts.planned, ...changed } })] as const
      ),
      ["files", (facts) => ({ ...facts, files: { kind: "touched", because: "main.tf changed" } })],
      ["inputs", (facts) => ({ ...facts, movedInputs: "moved" })],
      ["rule", (facts) => ({ ...facts, rulesThen: ["[]", "[1]"] })],
      ["off", (facts) => ({ ...facts, allowed: ["approval", "off"] })],
      ["approver", (facts) => ({ ...facts, missing: "1 more approval" })],
      ["stale", (facts) => ({ ...facts, isStale: true })],
      ["uncertain", (facts) => ({ ...facts, isUncertain: true })],
      ["used", (facts) => ({ ...facts, isUsed: true })]
    ]
    fc.assert(
      fc.property(fc.subarray([...changes]), (chosen) => {
        const facts = chosen.reduce((sum, [, change]) => change(sum), equal)
        expect(codesOf(facts).toSorted()).toEqual(chosen.map(([code]) => code).toSorted())
      }),
      { numRuns: 300 }
    )
  })

  test("carried-over approvals let svc apply the plan only if every rule allows it", () => {
    expect(appliesCarried(["approval_and_apply", "approval_and_apply"])).toBe(true)
    expect(appliesCarried(["approval_and_apply", "approval"])).toBe(false)
    expect(appliesCarried(["approval"])).toBe(false)
    expect(appliesCarried([])).toBe(false)
  })
})
