import { describe, expect, test } from "bun:test"
import type { VariableFacts } from "../../../schema/manifest/ModuleFacts.ts"
import { variable, compile, variables, told } from "./CompilationFixture.ts"
import { label, userInput, type JsonObject } from "./ManifestFixture.ts"

describe("a manifest is rejected if an input's variable or type cannot be verified (J11)", () => {
  const from = (kind: string, more: JsonObject = {}) => ({ name: "a", source: { kind }, label, ...more })
  test.each<readonly [string, JsonObject, VariableFacts, ReadonlyArray<string>]>([
    ["exact type", userInput("a", { type: "number" }), variable("a", { type: "number" }), []],
    ["another type", userInput("a", { type: "number" }), variable("a"), ["variable_type_not_proven inputs/0"]],
    ["no declared type", userInput("a"), variable("a", { type: "json" }), []],
    ["a name that differs in case", userInput("A"), variable("a"), ["variable_not_found inputs/0/name"]],
    ["capsule_name into a string", from("capsule_name"), variable("a"), []],
    [
      "capsule_name into a number",
      from("capsule_name"),
      variable("a", { type: "number" }),
      ["variable_type_not_proven inputs/0"]
    ],
    [
      "workspace_scoped_capsule_name into json",
      from("workspace_scoped_capsule_name"),
      variable("a", { type: "json" }),
      ["variable_type_not_proven inputs/0"]
    ],
    [
      "a role on a boolean",
      userInput("a", { role: "service_name" }),
      variable("a", { type: "boolean" }),
      ["variable_type_not_proven inputs/0"]
    ],
    [
      "a role on a declared number",
      userInput("a", { role: "service_name", type: "number" }),
      variable("a", { type: "number" }),
      ["variable_type_not_proven inputs/0"]
    ],
    ["module_default with a default", from("module_default"), variable("a", { hasDefault: true }), []],
    ["module_default without a default", from("module_default"), variable("a"), ["default_not_proven inputs/0/source"]],
    ["optional with a default", userInput("a", { required: false }), variable("a", { hasDefault: true }), []],
    [
      "optional without a default",
      userInput("a", { required: false }),
      variable("a"),
      ["default_not_proven inputs/0/required"]
    ],
    ["required with a default", userInput("a", { required: true }), variable("a", { hasDefault: true }), []]
  ])("%s", (_, input, fact, expected) => {
    expect(told(compile({ inputs: [input] }, {}, variables(fact)))).toEqual([...expected])
  })

  test("a manifest can make an input secret, but cannot make a secret input public", () => {
    const secretOf = (input: JsonObject, fact: Partial<VariableFacts>) =>
      compile({ inputs: [userInput("a", input)] }, {}, variables(variable("a", fact))).inputs[0]?.secret
    expect(secretOf({}, {})).toBe(false)
    expect(secretOf({ secret: true }, {})).toBe(true)
    expect(secretOf({ role: "initial_secret" }, {})).toBe(true)
    expect(secretOf({ secret: false }, { sensitive: true })).toBe(true)
    expect(secretOf({ secret: false }, { ephemeral: true })).toBe(true)
  })

  test("an input with required: true stays required even if the module has a default", () => {
    const compiled = compile(
      { inputs: [userInput("a", { required: true })] },
      {},
      variables(variable("a", { hasDefault: true }))
    )
    expect(compiled.inputs).toMatchObject([{ name: "a", required: true, hasDefault: true }])
  })
})
