import { describe, expect, test } from "bun:test"
import { Effect, Result, type Schema } from "effect"
import { checkBounds, checkValues, missingInputs } from "../../../../actors/ledger/configuration/VariableRules.ts"
import type { DeclaredVariable } from "../../../../schema/records/InstallConfig.ts"
import { declared } from "../../support/DeclaredVariables.ts"

const outcome = (type: DeclaredVariable["type"], value: string | number | ReadonlyArray<number>) =>
  Effect.runSync(Effect.result(checkValues("variables", [declared("a", type)], { a: value })))

describe("Input values", () => {
  test("an input that has the same name as a property of Object counts as missing until a person sets it", () => {
    for (const name of ["constructor", "toString", "valueOf"]) {
      expect(missingInputs([declared(name)], {})).toEqual([name])
      expect(missingInputs([declared(name)], { [name]: "given" })).toEqual([])
    }
  })

  test("svc rejects a sensitive input if it contains a secret that svc cannot hide, and explains the reason", () => {
    const told = (value: Schema.Json, sensitive = true) => {
      const result = Effect.runSync(
        Effect.result(checkValues("variables", [{ ...declared("a", "json"), sensitive }], { a: value }))
      )
      return Result.isFailure(result) ? result.failure.message : undefined
    }
    expect(told("x")).toBe(
      "variables.a: has a single character, too short to be hidden in logs and plans; a secret needs at least 2."
    )
    expect(told(7)).toContain("a single character")
    expect(told("   ")).toContain("blank")
    for (const value of ["ab", 42, "true", null, false, { a: "x", b: ["", true] }]) expect(told(value)).toBeUndefined()
    expect(told("x", false)).toBeUndefined()
    expect(told("[redacted var.db.password]", false)).toContain("holds the redaction mark")
    expect(told(Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(30_000, "x")))).toContain("1048576 bytes")
  })

  test("an input value may be nested up to the limit, counting the variables object as the first level", () => {
    const nested = (levels: number): Schema.Json => (levels === 0 ? 1 : [nested(levels - 1)])
    const told = (levels: number) => {
      const values = { a: nested(levels) }
      const result = Effect.runSync(Effect.result(checkValues("variables", [declared("a", "json")], values)))
      return Result.isFailure(result) ? result.failure.message : undefined
    }
    expect(told(31)).toBeUndefined()
    // Even an empty list counts as a level of nesting.
    const hollow = (levels: number): Schema.Json => (levels === 1 ? [] : [hollow(levels - 1)])
    const bounds = (levels: number) => Result.isSuccess(Effect.runSync(Effect.result(checkBounds("a", hollow(levels)))))
    expect([bounds(32), bounds(33)]).toEqual([true, false])
    expect([told(32), told(33)]).toEqual(Array.from({ length: 2 }, () => "variables: is nested deeper than 32 levels."))
  })

  test("svc rejects whole numbers that JSON would round, at any depth, and accepts the same numbers as strings", () => {
    for (const [type, value] of [
      ["number", 9007199254740992],
      ["json", [1, 12345678901234567000]]
    ] as const) {
      expect(Result.isFailure(outcome(type, value))).toBe(true)
    }
    expect(Result.isSuccess(outcome("number", 9007199254740991))).toBe(true)
    expect(Result.isSuccess(outcome("number", "12345678901234567891"))).toBe(true)
    expect(Result.isSuccess(outcome("number", "-12345678901234.123456"))).toBe(true)
    expect(Result.isFailure(outcome("number", "12.5"))).toBe(true)
    expect(Result.isFailure(outcome("number", "1.2.3456789012345678"))).toBe(true)
    expect(Result.isFailure(outcome("number", "twelve"))).toBe(true)
    expect(Result.isFailure(outcome("number", "0x12345678901234567"))).toBe(true)
  })
})
