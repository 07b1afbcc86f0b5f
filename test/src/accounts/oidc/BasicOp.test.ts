import { afterAll, describe, expect, test } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { basicOpModules, stricterModules } from "./support/BasicOp.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("oidcc-basic-certification-test-plan", () => {
  for (const { check, name } of basicOpModules) tests.live(name, () => check)

  test("is complete", () => {
    expect(new Set(basicOpModules.map(({ name }) => name)).size).toBe(38)
  })
})

describe("Stricter checks", () => {
  for (const { check, name } of stricterModules) tests.live(name, () => check)
})
