import { expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { send, TestApplication } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

const path = `/api/v1/capsules/${world.capsuleId}/plan`

it.live("600 changes a minute are one subject's, whatever credentials they come with; reads stay free", () =>
  Effect.gen(function* () {
    const credentials = [
      { authorization: "Bearer ada-token" },
      { authorization: "Bearer ada-token-for-a" },
      { "x-svc-account-session": "ada-session" }
    ]
    const change = (credential: Record<string, string>) =>
      send(path, { method: "POST", headers: { ...credential, "content-type": "application/json" }, body: "{}" })
    const read = send("/api/v1/credential-recipes", { headers: { authorization: "Bearer ada-token" } })
    const statuses = new Map<number, number>()
    let limited: Response | undefined
    for (let n = 0; n < 640 && limited === undefined; n++) {
      const response = yield* change(credentials[n % credentials.length] ?? {})
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      if (response.status === 429) limited = response
    }
    expect(statuses.get(409)).toBeGreaterThanOrEqual(600)
    expect(Number(limited?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect(yield* Effect.promise(async () => await limited?.json())).toMatchObject({ error: { code: "rate_limited" } })
    expect((yield* read).status).toBe(200)
    // Who may not change anything is told so, and uses up nobody's share.
    const refused = yield* send(path, { method: "POST", headers: { "x-svc-account-session": "viewer-session" } })
    expect(refused.status).toBe(403)
  }).pipe(Effect.provide(TestApplication.layer))
)
