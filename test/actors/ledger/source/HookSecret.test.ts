import { afterAll, expect } from "bun:test"
import { Effect, Ref, Stream, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { suite } from "../../../support/Effect.ts"
import { freshKey } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const body = Stream.make(new TextEncoder().encode("{}"))
const names = Ref.makeUnsafe(0)

const newSource = Effect.gen(function* () {
  const { context, url, workspaceId } = yield* TestPlane
  const sources = yield* Sources
  const sourceCommands = yield* SourceCommands
  const number = yield* Ref.updateAndGet(names, (count) => count + 1)
  const made = yield* sources.create(context, { workspaceId, name: `renewed-${number}`, url })
  /**
   * Returns `accepted` if svc accepts a delivery signed with this secret, and otherwise the error code. The Source is
   * disabled, so nothing is synced.
   */
  const accepts = (secret: string) =>
    Effect.match(sources.hook(made.source.id, { proofs: { secrets: [secret] }, body }), {
      onFailure: ({ code }) => code,
      onSuccess: () => "accepted"
    })
  yield* sourceCommands.Update(made.source.id, { context, request: { status: "disabled" } })
  return { ...made, accepts, context, sources, commands: yield* SourceCommands }
})

const later = "2000-01-01T00:00:00.000Z"

tests.live("after a renewal the old hook secret remains valid until a delivery uses the new secret", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { accepts, commands, context, hookSecret, source, sources } = yield* newSource
    expect([source.hookSecretVersion, source.hookSecretCreatedAt]).toEqual([1, source.createdAt])
    expect(yield* accepts(hookSecret)).toBe("accepted")
    const renewed = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1 })
    expect(renewed.source.hookSecretVersion).toBe(2)
    expect(renewed.source.hookSecretCreatedAt > source.createdAt).toBe(true)
    expect(renewed.hookSecret).toMatch(/^[\w-]{43}$/)
    expect(renewed.hookSecret).not.toBe(hookSecret)
    const aDay = Date.parse(renewed.source.formerHookSecretUntil ?? "") - Date.parse(renewed.source.hookSecretCreatedAt)
    expect(Math.round(aDay / 3_600_000)).toBe(24)
    expect(yield* sources.read(source.id)).toMatchObject(Struct.omit(renewed.source, ["lastDelivery"]))
    // The Git server still signs with the old secret, which remains valid for any number of deliveries.
    expect([yield* accepts(hookSecret), yield* accepts(hookSecret)]).toEqual(["accepted", "accepted"])
    expect([yield* accepts(renewed.hookSecret ?? ""), yield* accepts(hookSecret)]).toEqual([
      "accepted",
      "unauthenticated"
    ])
    expect((yield* sources.read(source.id)).formerHookSecretUntil).toBeUndefined()
    // Checks only that the event exists, not its position, because the preceding update may have the same timestamp.
    const events = yield* sql<{ action: string }>`SELECT action FROM audit_events WHERE target_id = ${source.id}`
    expect(events.map(({ action }) => action)).toContain("source.hook_secret.renew")
    const dump = JSON.stringify([yield* sql`SELECT * FROM audit_events`, yield* sql`SELECT * FROM sources`])
    expect(dump).not.toContain(renewed.hookSecret ?? "nothing")
    expect(dump).not.toContain(hookSecret)
  })
)

tests.live("an old hook secret expires a day after its renewal, or at once on request", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { accepts, commands, context, hookSecret, source } = yield* newSource
    yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1 })
    yield* sql`UPDATE sources SET former_hook_secret_until = ${later} WHERE id = ${source.id}`
    expect(yield* accepts(hookSecret)).toBe("unauthenticated")
    const known = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 2 })
    const last = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 3, endFormerNow: true })
    expect([yield* accepts(known.hookSecret ?? ""), yield* accepts(last.hookSecret ?? "")]).toEqual([
      "unauthenticated",
      "accepted"
    ])
  })
)

tests.live("a second renewal keeps the secret that the Git server uses and discards the unused secret", () =>
  Effect.gen(function* () {
    const { accepts, commands, context, hookSecret, source } = yield* newSource
    const lost = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1 })
    const found = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 2 })
    expect([yield* accepts(lost.hookSecret ?? ""), yield* accepts(hookSecret)]).toEqual(["unauthenticated", "accepted"])
    expect(yield* accepts(found.hookSecret ?? "")).toBe("accepted")
  })
)

tests.live("when hook secret renewals race, exactly one returns a secret, and that secret works", () =>
  Effect.gen(function* () {
    const { accepts, commands, context, source } = yield* newSource
    const outcomes = yield* Effect.forEach(
      [1, 2, 3],
      () => Effect.result(commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1 })),
      { concurrency: "unbounded" }
    )
    const codes = outcomes.map((outcome) => (outcome._tag === "Failure" ? outcome.failure.code : "renewed"))
    expect(codes.toSorted()).toEqual(["guard_conflict", "guard_conflict", "renewed"])
    const won = outcomes.find((outcome) => outcome._tag === "Success")
    expect(yield* accepts(won?.success.hookSecret ?? "")).toBe("accepted")
  })
)

tests.live("repeating a renewal with the same key renews nothing and returns no secret", () =>
  Effect.gen(function* () {
    const { accepts, commands, context, source } = yield* newSource
    const request = freshKey("a")
    const first = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1, idempotency: request })
    expect(first.replayed).toBe(false)
    const again = yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1, idempotency: request })
    expect(again).toEqual({ replayed: true, source: first.source })
    expect(yield* accepts(first.hookSecret ?? "")).toBe("accepted")
    const other = yield* Effect.flip(
      commands.RenewHookSecret(source.id, {
        context,
        hookSecretVersion: 2,
        idempotency: { key: request.key, requestDigest: "b" }
      })
    )
    expect(other.code).toBe("idempotency_conflict")
    // A rejected request leaves no receipt, so its key can be used again.
    const late = freshKey("c")
    expect(
      (yield* Effect.flip(commands.RenewHookSecret(source.id, { context, hookSecretVersion: 1, idempotency: late })))
        .code
    ).toBe("guard_conflict")
    expect(
      (yield* commands.RenewHookSecret(source.id, { context, hookSecretVersion: 2, idempotency: late })).source
        .hookSecretVersion
    ).toBe(3)
  })
)
