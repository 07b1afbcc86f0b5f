import { afterAll, describe } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { capsuleClientRuleModules } from "./support/CapsuleClientRules.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("Capsule clients", () => {
  for (const { check, name } of capsuleClientRuleModules) tests.live(name, () => check)
})
