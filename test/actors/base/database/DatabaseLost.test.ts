import { Cause } from "effect"
import { describe, expect, test } from "bun:test"
import { hasDatabaseLost, isDatabaseLost } from "../../../../actors/base/database/DatabaseLost.ts"

describe("A lost database", () => {
  test.each([
    ["a connection error of the client", { _tag: "ConnectionError" }],
    ["a wait for the write lock that took too long", { _tag: "LockTimeoutError" }],
    ["a failed connection", { code: "08006" }],
    ["a session that was idle in a transaction for too long", { code: "25P03" }],
    ["a replica that is not promoted yet", { code: "25006" }],
    ["a server that is shutting down", { code: "57P01" }],
    ["an error that wraps the loss as its reason", { _tag: "SqlError", reason: { _tag: "ConnectionError" } }],
    ["an error that wraps the loss as its cause", new Error("failed", { cause: { code: "08003" } })]
  ])("%s counts as a lost database", (_, error) => {
    expect(isDatabaseLost(error)).toBe(true)
    expect(hasDatabaseLost(Cause.fail(error))).toBe(true)
    expect(hasDatabaseLost(Cause.die(error))).toBe(true)
  })

  const endless: { cause?: object } = {}
  endless.cause = endless

  test.each([
    ["a violated constraint", { _tag: "ConstraintError", code: "23505" }],
    ["a failed serialization", { code: "40001" }],
    ["a text", "57P01"],
    ["nothing", null],
    ["an error that is its cause", endless]
  ])("%s does not count as a lost database", (_, error) => {
    expect(isDatabaseLost(error)).toBe(false)
    expect(hasDatabaseLost(Cause.die(error))).toBe(false)
  })

  test("an interruption does not count as a lost database", () => {
    expect(hasDatabaseLost(Cause.interrupt())).toBe(false)
  })
})
