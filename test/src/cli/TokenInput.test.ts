import { expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { tokenInput } from "../../../src/cli/TokenInput.ts"
import { it } from "../../support/Effect.ts"

it.effect("the command line trims whitespace around a token, and never prints an invalid token", () =>
  Effect.gen(function* () {
    for (const given of ["token-canary", "token-canary\n", "token-canary\r\n", "\uFEFF token-canary\t\n"]) {
      expect(Redacted.value(yield* tokenInput("SVC_TOKEN", given))).toBe("token-canary")
    }
    for (const given of ["token canary", "token\ncanary", "token\u0000canary", "token-canary-é"]) {
      const { message } = yield* Effect.flip(tokenInput("SVC_TOKEN", given))
      expect(message).toStartWith("SVC_TOKEN contains no token: ")
      expect(message).not.toContain("canary")
    }
    expect((yield* Effect.flip(tokenInput("SVC_TOKEN", " \n"))).message).toBe(
      "SVC_TOKEN contains no token: it is empty."
    )
  })
)
