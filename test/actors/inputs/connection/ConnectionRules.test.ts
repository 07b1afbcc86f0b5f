import { describe, expect, test } from "bun:test"
import { Effect, Result, Schema } from "effect"
import { checkConnection } from "../../../../actors/inputs/connection/ConnectionRules.ts"
import { defaultGitPolicy } from "../../../../runner/git/GitPolicy.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"

const decode = Schema.decodeUnknownSync(CreateConnection)

const told = (given: { readonly values?: Record<string, string>; readonly files?: ReadonlyArray<unknown> }) => {
  const request = decode({
    workspaceId: "ws_00000000000000000000000000000000",
    provider: "example.test/acme/demo",
    displayName: "demo",
    ...given
  })
  const result = Effect.runSync(Effect.result(checkConnection(request, defaultGitPolicy)))
  return Result.isFailure(result) ? result.failure.message : undefined
}

describe("Connection contents", () => {
  test("a Connection rejects values and files that cannot be hidden, and explains the reason", () => {
    expect(told({ values: { DEMO_TOKEN: "x" } })).toBe(
      "values.DEMO_TOKEN: has a single character, too short to be hidden in logs and plans; a secret needs at least 2."
    )
    expect(told({ values: { DEMO_TOKEN: " \t" } })).toContain("values.DEMO_TOKEN: is blank")
    expect(told({ files: [{ name: "key", content: "\n" }] })).toContain("files[0].content: is blank")
    expect(told({ values: { DEMO_TOKEN: "kq", DEMO_TLS: "true" } })).toBeUndefined()
  })

  test("a Connection rejects a redaction mark as a value, with or without an origin", () => {
    expect(told({ values: { DEMO_TOKEN: "[redacted env.DEMO_TOKEN]" } })).toContain("holds the redaction mark")
    expect(told({ files: [{ name: "key", content: "a [redacted file.key] b" }] })).toContain("holds the redaction mark")
  })

  test("a Connection rejects more values than a Run can hide, and reports the limit", () => {
    const files = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `f${index}`, content: `${index}`.padEnd(300_000, "x") }))
    expect(told({ files: files(3) })).toBeUndefined()
    expect(told({ files: files(4) })).toContain("1048576 bytes")
  })

  test("a Connection file can use a variable name that is also a property of every object", () => {
    const file = { name: "key", content: "kq7zx-9d2m", envName: "constructor" }
    expect(told({ values: { DEMO_TOKEN: "kq7zx-1f0p" }, files: [file] })).toBeUndefined()
    expect(told({ values: { constructor: "kq7zx-1f0p" }, files: [file] })).toContain("given as a value too")
  })
})
