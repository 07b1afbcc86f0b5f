import { expect } from "bun:test"
import { Clock, Context, Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { testTime, TestTime } from "../accounts/oidc/support/TestTime.ts"
import { origin, TestApplication } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

const path = `/api/v1/capsules/${world.capsuleId}/plan`

/** Sends a request that uses the test's clock. */
const send = Effect.fnUntraced(function* (address: string, init: RequestInit) {
  const { handler } = yield* TestApplication
  const { clock } = yield* TestTime
  const request = new Request(`${origin}${address}`, init)
  return yield* Effect.promise(() => handler(request, Context.make(Clock.Clock, clock)))
})

it.live("all credentials of a subject share a limit of 600 changes per minute, and reads are not limited", () =>
  Effect.gen(function* () {
    const time = yield* TestTime
    const credentials = [
      { authorization: "Bearer ada-token" },
      { authorization: "Bearer ada-token-for-a" },
      { "x-svc-account-session": "ada-session" }
    ]
    let sent = 0
    const change = Effect.suspend(() =>
      send(path, {
        method: "POST",
        headers: { ...credentials[sent++ % credentials.length], "content-type": "application/json" },
        body: "{}"
      })
    )
    const statuses = (count: number) =>
      Effect.map(
        Effect.forEach(Array.from({ length: count }), () => change),
        (responses) => [...new Set(responses.map(({ status }) => status))]
      )
    // The clock is stopped, because the limit refills over time: exactly 600 requests succeed, even on a slow machine.
    yield* time.stop
    expect(yield* statuses(600)).toEqual([409])
    const limited = yield* change
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "1"])
    expect(yield* Effect.promise(async () => await limited.json())).toMatchObject({ error: { code: "rate_limited" } })
    const read = yield* send("/api/v1/credential-recipes", { headers: { authorization: "Bearer ada-token" } })
    expect(read.status).toBe(200)
    // Requests from a caller without permission do not count towards the budget.
    const refused = yield* send(path, { method: "POST", headers: { "x-svc-account-session": "viewer-session" } })
    expect(refused.status).toBe(403)
    // After one second, the budget has refilled by ten requests.
    yield* time.advance("1 second")
    expect(yield* statuses(10)).toEqual([409])
    expect(yield* statuses(1)).toEqual([429])
  }).pipe(Effect.provide([TestApplication.layer, testTime]))
)
