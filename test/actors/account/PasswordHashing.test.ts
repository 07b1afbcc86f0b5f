import { expect, test } from "bun:test"
import { bunHashing, currentPrefix, libraryHashing } from "../../../actors/account/PasswordHashing.ts"

const password = "correct horse battery"

for (const [made, hashing, other] of [
  ["Bun", bunHashing, libraryHashing],
  ["the library of other runtimes", libraryHashing, bunHashing]
] as const) {
  test(`both implementations verify a hash created by ${made} at the current cost`, async () => {
    const hash = await hashing.hash(password)
    expect(hash).toStartWith(currentPrefix)
    for (const one of [hashing, other]) {
      expect(await one.verify(password, hash)).toBe(true)
      expect(await one.verify(`${password} `, hash)).toBe(false)
    }
  })
}
