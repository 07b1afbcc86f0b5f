import { afterAll, describe } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"
import { workspaceRuleModules } from "./support/WorkspaceRules.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("Workspaces and Capsules", () => {
  for (const { check, name } of workspaceRuleModules) tests.live(name, () => check)
})
