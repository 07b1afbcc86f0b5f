import { afterAll, describe } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { interfaceRuleModules } from "./support/InterfaceRules.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("Interface tokens", () => {
  for (const { check, name } of interfaceRuleModules) tests.live(name, () => check)
})
