import { describe, expect, test } from "bun:test"
import { answersOf, fieldsOf, formModel, keepable, parseAnswer } from "../../src/dashboard/forms/FormModel.ts"
import { installConfig, report } from "../browser/support/records/InstallConfigs.ts"

const model = formModel(report.variables, installConfig.variables, installConfig.presentation)

describe("Module forms", () => {
  test("a module's form keeps the manifest's order, groups features and collapses other questions", () => {
    expect(model.groups.map(({ id, fields }) => [id, fields.map(({ name }) => name)])).toEqual([
      ["", ["domain", "replicas", "session_key", "public"]],
      ["mail", ["mail_from"]]
    ])
    expect(model.advanced.map(({ name }) => name)).toEqual(["allowed_ranges"])
  })

  test("a module's form omits questions that are answered elsewhere", () => {
    expect(model.filled).toEqual([{ name: "name", origin: "capsule_name" }])
    expect(fieldsOf(model).map(({ name }) => name)).not.toContain("name")
  })

  test("a module's form treats a sensitive variable as secret, with or without a manifest", () => {
    const generic = formModel(report.variables)
    expect(fieldsOf(generic).find(({ name }) => name === "session_key")?.secret).toBe(true)
    expect(keepable(fieldsOf(model), { domain: "a", session_key: "s" })).toEqual({ domain: "a" })
  })

  test("without a manifest, a module's form shows required variables and collapses variables with a default", () => {
    const generic = formModel(report.variables)
    expect(generic.groups.flatMap(({ fields }) => fields.map(({ name }) => name))).toEqual([
      "name",
      "domain",
      "session_key"
    ])
    expect(generic.advanced).toHaveLength(4)
  })

  test("a module's form with few questions collapses none of them", () => {
    const small = report.variables.filter(({ name }) => name === "public" || name === "replicas")
    const inputs = small.map(({ name }) => ({ name, origin: "generic", required: false, advanced: false }))
    expect(formModel(small, [], { inputs, features: [] }).advanced).toEqual([])
  })

  test("a module's form ignores an invalid presentation", () => {
    for (const broken of [
      null,
      3,
      "x",
      { inputs: 3, features: [null, { id: 1 }] },
      { inputs: [{ name: "domain", label: "text" }] }
    ]) {
      expect(fieldsOf(formModel(report.variables, installConfig.variables, broken))).toHaveLength(6)
    }
  })
})

describe("an answer", () => {
  test("a module's form parses an answer according to its type", () => {
    expect(parseAnswer({ type: "number", required: true }, " 2.5 ")).toEqual({ kind: "value", value: 2.5 })
    for (const typed of ["9007199254740993", "-12345678901234.123456"])
      expect(parseAnswer({ type: "number", required: true }, typed)).toEqual({ kind: "value", value: typed })
    expect(parseAnswer({ type: "json", required: false }, "[9007199254740993]")).toMatchObject({
      problem: "long_number"
    })
    expect(parseAnswer({ type: "json", required: false }, '["9007199254740993"]')).toEqual({
      kind: "value",
      value: ["9007199254740993"]
    })
    expect(parseAnswer({ type: "boolean", required: false }, "false")).toEqual({ kind: "value", value: false })
    expect(parseAnswer({ type: "json", required: false }, '{"a":null}')).toEqual({ kind: "value", value: { a: null } })
    expect(parseAnswer({ type: "string", required: false }, " kept ")).toEqual({ kind: "value", value: " kept " })
  })

  test("an empty answer leaves the variable unset, and is an error if the variable is required", () => {
    expect(parseAnswer({ type: "string", required: false }, "")).toEqual({ kind: "unset" })
    expect(parseAnswer({ type: "string", required: true }, undefined)).toMatchObject({ problem: "required" })
  })

  test("a module's form reports an answer that does not match its type", () => {
    for (const [type, text, problem] of [
      ["number", "1e999", "number"],
      ["number", "two", "number"],
      ["number", " ", "number"],
      ["boolean", "yes", "boolean"],
      ["json", "{a:1}", "json"]
    ] as const) {
      expect(parseAnswer({ type, required: false }, text)).toMatchObject({ kind: "problem", problem })
    }
  })

  test("a module's form parses all answers together, and returns errors by name", () => {
    const { values, problems } = answersOf(fieldsOf(model), { domain: "shop.example", replicas: "x" })
    expect(values).toEqual({ domain: "shop.example" })
    expect([...problems.keys()].sort()).toEqual(["replicas", "session_key"])
  })
})
