import { expect, test } from "bun:test"
import { Result } from "effect"
import { patchedValues, type VariablePatch } from "../../../../actors/ledger/configuration/VariableRules.ts"
import type { DeclaredVariable } from "../../../../schema/records/InstallConfig.ts"

const variable = (name: string, required: boolean, origin: DeclaredVariable["origin"] = "user"): DeclaredVariable => ({
  name,
  type: "string",
  required,
  hasDefault: !required,
  sensitive: false,
  ephemeral: false,
  origin,
  set: false
})
const declared = [
  variable("region", true),
  variable("size", false),
  variable("endpoint", true, "host"),
  variable("zone", false, "operator"),
  { ...variable("tier", false), origin: "undeclared" as const }
]
const current = { region: "eu", size: "small", zone: "z1", tier: "t1" }

const cases: ReadonlyArray<readonly [name: string, patch: VariablePatch, expected: object | string]> = [
  ["nothing", {}, current],
  ["a value replaced", { set: { size: "large" } }, { region: "eu", size: "large", zone: "z1", tier: "t1" }],
  [
    "a value added and one removed",
    { set: { tag: "a" }, remove: ["size"] },
    { region: "eu", zone: "z1", tier: "t1", tag: "a" }
  ],
  ["a value of null, which is set", { set: { region: null } }, { region: null, size: "small", zone: "z1", tier: "t1" }],
  ["set and removed at once", { set: { size: "large" }, remove: ["size"] }, "remove[0]: size is also set"],
  ["removed where nothing is set", { remove: ["size", "tag"] }, "remove[1]: the configuration sets no such input"],
  ["removed twice", { remove: ["size", "size"] }, "remove[1]: the configuration sets no such input"],
  ["a name of every object removed", { remove: ["toString"] }, "remove[0]: the configuration sets no such input"],
  ["an input of the operator removed", { remove: ["zone"] }, "remove[0]: the operator sets this input"],
  [
    "an input removed that the manifest does not declare",
    { remove: ["tier"] },
    "remove[0]: the manifest of this commit"
  ],
  ["a required input removed", { remove: ["region"] }, "left without a value: region."]
]

test.each(cases)("a variable patch is applied or rejected: %s", (_, patch, expected) => {
  const before = structuredClone(current)
  const result = patchedValues(declared, current, patch)
  if (typeof expected === "string") expect(Result.isFailure(result) && result.failure).toContain(expected)
  else expect(Result.getOrThrow(result)).toEqual({ ...expected })
  expect(current).toEqual(before)
})
