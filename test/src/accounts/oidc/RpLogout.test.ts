import { afterAll, describe, expect, test } from "bun:test"
import { suite } from "../../../support/Effect.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"
import { leavingModules, rpLogoutModules } from "./support/RpLogout.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

describe("oidcc-rp-initiated-logout-certification-test-plan", () => {
  for (const { check, name } of rpLogoutModules) tests.live(name, () => check)

  test("is complete", () => {
    expect(rpLogoutModules.length).toBe(11)
  })
})

describe("leaving", () => {
  for (const { check, name } of leavingModules) tests.live(name, () => check)
})
