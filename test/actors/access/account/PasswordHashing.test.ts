import { expect, test } from "bun:test"
import {
  bunHashing,
  libraryHashing,
  PasswordCost,
  prefixAt
} from "../../../../actors/access/account/PasswordHashing.ts"

const password = "correct horse battery"
const cost = PasswordCost.defaultValue()

for (const [made, hashing, other] of [
  ["Bun", bunHashing, libraryHashing],
  ["the library of other runtimes", libraryHashing, bunHashing]
] as const) {
  test(`both implementations verify a hash created by ${made} at the current cost`, async () => {
    const hash = await hashing.hash(password, cost)
    expect(hash).toStartWith(prefixAt(cost))
    for (const one of [hashing, other]) {
      expect(await one.verify(password, hash)).toBe(true)
      expect(await one.verify(`${password} `, hash)).toBe(false)
    }
  })
}
