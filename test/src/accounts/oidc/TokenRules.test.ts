import { afterAll, describe } from "bun:test"
import { Effect } from "effect"
import { suite } from "../../../support/Effect.ts"
import { someone } from "./support/Someone.ts"
import { json, mustBe, refresh, signInTo, tokensOf } from "./support/Browser.ts"
import { issuerLayer } from "./support/IssuerFixture.ts"
import { TestTime } from "./support/TestTime.ts"
import { tokenRuleModules } from "./support/TokenRules.ts"

const tests = suite(issuerLayer())
const graceful = suite(issuerLayer({ graceSeconds: 10 }))
afterAll(async () => {
  await tests.dispose()
  await graceful.dispose()
})

describe("Token service", () => {
  for (const { check, name } of tokenRuleModules) tests.live(name, () => check)
})

describe("Refresh grace period", () => {
  graceful.live(
    "a refresh whose response was lost can be repeated for ten seconds while the new refresh token is unused",
    () =>
      Effect.gen(function* () {
        const time = yield* TestTime
        const { cookie } = yield* someone
        const { refresh_token: first = "" } = yield* signInTo({ scope: "openid offline_access" }, cookie)
        const lost = yield* tokensOf(yield* refresh(first))
        const again = yield* tokensOf(yield* refresh(first))
        yield* mustBe(again.refresh_token, lost.refresh_token, "successor")
        yield* time.advance("11 seconds")
        const late = yield* refresh(first)
        yield* mustBe((yield* json(late))["error"], "invalid_grant", "error after the grace")
        yield* mustBe((yield* refresh(again.refresh_token ?? "")).status, 400, "the family has ended")
      })
  )

  graceful.live("the refresh grace period ends when the successor token is first used", () =>
    Effect.gen(function* () {
      const { cookie } = yield* someone
      const { refresh_token: first = "" } = yield* signInTo({ scope: "openid offline_access" }, cookie)
      const { refresh_token: second = "" } = yield* tokensOf(yield* refresh(first))
      const { refresh_token: third = "" } = yield* tokensOf(yield* refresh(second))
      yield* mustBe((yield* refresh(first)).status, 400, "the first once more")
      yield* mustBe((yield* refresh(third)).status, 400, "the newest")
    })
  )
})
