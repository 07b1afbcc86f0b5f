import { afterAll, describe } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"
import { pageRuleModules } from "./support/PageRules.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("Issuer pages", () => {
  for (const { check, name } of pageRuleModules) tests.live(name, () => check)
})
