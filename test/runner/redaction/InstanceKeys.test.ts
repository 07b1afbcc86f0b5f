import { describe, expect, test } from "bun:test"
import { Redacted } from "effect"
import { comparedAddress, hiddenKey, shownKeysIn } from "../../../runner/redaction/InstanceKeys.ts"
import { Redactor } from "../../../runner/redaction/Redactor.ts"
import { valueSecrets } from "../../../runner/redaction/SecretRule.ts"

const keyed = (addressKey: string, users: ReadonlyArray<string>) => {
  const redactor = new Redactor(valueSecrets("var.users", [...users]))
  redactor.keyAddresses(addressKey)
  return redactor
}
const [alice, bob] = ["alice-secret", "bob-secret"]

describe("Secret instance keys", () => {
  test("a hidden instance key depends on the secret and the Capsule, not on the order of secrets", () => {
    const address = (key: string) => `module.u["${key}"].terraform_data.t["eu"]`
    const shown = keyed("one", [alice, bob]).address(address(alice))
    expect(shown).toMatch(/^module\.u\["\[redacted key [0-9a-f]{12}\]"\]\.terraform_data\.t\["eu"\]$/)
    expect(keyed("one", [bob, alice]).address(address(alice))).toBe(shown)
    expect(keyed("one", [alice, bob]).address(address(bob))).not.toBe(shown)
    expect(keyed("two", [alice, bob]).address(address(alice))).not.toBe(shown)
  })

  test("secret instance keys are hidden entirely, but remain distinct", () => {
    const redactor = keyed("one", [alice])
    const [first, second] = [`x.y["a-${alice}"]`, `x.y["b-${alice}"]`].map((address) => redactor.address(address))
    expect(first).not.toBe(second)
    expect(first).not.toContain("a-")
  })

  test("a hidden instance key is the same in the tool's output and in a state", () => {
    expect(hiddenKey("one", "a$${b}")).toBe(hiddenKey("one", "a${b}"))
    expect(hiddenKey("one", String.raw`a\u0062\"`)).toBe(hiddenKey("one", String.raw`ab\"`))
    expect(hiddenKey("one", "$a")).not.toBe(hiddenKey("one", "$$a"))
  })

  test("a hidden instance key can be matched with its address in a state", () => {
    const key = Redacted.make("one")
    const shown = keyed("one", [alice]).address(`x.y["${alice}"].z["eu"]`)
    expect(comparedAddress(key, shown)).toBe(comparedAddress(key, `x.y["${alice}"].z["eu"]`))
    expect(comparedAddress(key, shown)).not.toBe(comparedAddress(key, `x.y["${bob}"].z["eu"]`))
    expect(shownKeysIn(shown)).toEqual(["eu"])
  })
})
