import { expect, test } from "bun:test"
import { Result } from "effect"
import { patchedValues, type VariablePatch } from "../../../actors/configuration/VariablePatch.ts"
import type { DeclaredVariable } from "../../../schema/records/InstallConfig.ts"

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
const declared = [variable("region", true), variable("size", false), variable("endpoint", true, "host")]
const current = { region: "eu", size: "small" }

const cases: ReadonlyArray<readonly [name: string, patch: VariablePatch, expected: object | string]> = [
  ["nothing", {}, current],
  ["a value replaced", { set: { size: "large" } }, { region: "eu", size: "large" }],
  ["a value added and one removed", { set: { tag: "a" }, remove: ["size"] }, { region: "eu", tag: "a" }],
  ["a value of null, which is set", { set: { region: null } }, { region: null, size: "small" }],
  ["set and removed at once", { set: { size: "large" }, remove: ["size"] }, "remove[0]: size is also set"],
  ["removed where nothing is set", { remove: ["size", "tag"] }, "remove[1]: the configuration sets no such input"],
  ["removed twice", { remove: ["size", "size"] }, "remove[1]: the configuration sets no such input"],
  ["a name of every object removed", { remove: ["toString"] }, "remove[0]: the configuration sets no such input"],
  ["a required input removed", { remove: ["region"] }, "left without a value: region."]
]

test.each(cases)("a patch: %s", (_, patch, expected) => {
  const before = structuredClone(current)
  const result = patchedValues(declared, current, patch)
  if (typeof expected === "string") expect(Result.isFailure(result) && result.failure).toContain(expected)
  else expect(Result.getOrThrow(result)).toEqual({ ...expected })
  expect(current).toEqual(before)
})
