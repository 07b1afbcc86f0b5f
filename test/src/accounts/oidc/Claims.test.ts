import { afterAll, describe } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { claimRuleModules } from "./support/ClaimRules.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("claims", () => {
  for (const { check, name } of claimRuleModules) tests.live(name, () => check)
})
