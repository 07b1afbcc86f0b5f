import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { ReadSql } from "../../../../actors/base/database/ReadSql.ts"
import type { ApiError } from "../../../../schema/errors/ApiError.ts"
import { as, newPerson, testAccounts } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import { fresh, newToken } from "./support/Tokens.ts"

it.effect("the token inventory counts all tokens, orders them by time and id, and marks its last page", () =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const ann = yield* newPerson("ann")
    const bob = yield* newPerson("bob")
    yield* newToken(bob.subject)
    // Tokens created at the same moment are ordered by id.
    for (let n = 0; n < 7; n++) {
      const { token } = yield* newToken(ann.subject, { name: `t${n}` })
      if (n % 3 === 0) yield* tokens.revoke(as(ann.subject), ann.subject, token.token_id)
      if (n === 3) yield* TestClock.adjust("1 second")
    }
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* tokens.inventory(ann.subject, { limit: 3, cursor })
      expect(page).toMatchObject({
        kind: "svc.account-pat-inventory@v1",
        total: 7,
        limit: 3,
        returned: page.tokens.length
      })
      expect(page.truncated).toBe(page.next_cursor !== null)
      seen.push(...page.tokens.map((token) => `${token.created_at} ${token.token_id}`))
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(seen.toSorted())
    expect(new Set(seen).size).toBe(7)
    const whole = yield* tokens.inventory(ann.subject, { limit: 7 })
    expect(whole).toMatchObject({ returned: 7, truncated: false, next_cursor: null })
    const nobody = yield* newPerson("carl")
    expect(yield* tokens.inventory(nobody.subject, { limit: 50 })).toEqual({
      kind: "svc.account-pat-inventory@v1",
      tokens: [],
      total: 0,
      returned: 0,
      limit: 50,
      truncated: false,
      next_cursor: null
    })
  }).pipe(fresh)
)

it.effect(
  "the token inventory rejects malformed cursors, cursors for another person or list, and cursors at a deleted token",
  () =>
    Effect.gen(function* () {
      const tokens = yield* AccessTokens
      const sql = yield* SqlClient.SqlClient
      const ann = yield* newPerson("ann")
      const bob = yield* newPerson("bob")
      for (let n = 0; n < 3; n++) yield* newToken(ann.subject)
      const page = yield* tokens.inventory(ann.subject, { limit: 1 })
      const cursor = page.next_cursor ?? ""
      const listed = yield* tokens.list(ann.subject, { limit: 1 })
      const refused: ReadonlyArray<Effect.Effect<unknown, ApiError>> = [
        tokens.inventory(ann.subject, { limit: 1, cursor: "nonsense" }),
        tokens.inventory(ann.subject, { limit: 1, cursor: "" }),
        tokens.inventory(bob.subject, { limit: 1, cursor }),
        tokens.list(ann.subject, { limit: 1, cursor }),
        tokens.inventory(ann.subject, { limit: 1, cursor: listed.nextCursor })
      ]
      for (const attempt of refused) expect((yield* Effect.flip(Effect.asVoid(attempt))).code).toBe("invalid_request")
      expect((yield* tokens.inventory(ann.subject, { limit: 5, cursor })).returned).toBe(2)
      yield* sql`DELETE FROM access_tokens WHERE token_id = ${page.tokens[0]?.token_id ?? ""}`
      expect((yield* Effect.flip(tokens.inventory(ann.subject, { limit: 1, cursor }))).code).toBe("invalid_request")
    }).pipe(fresh)
)

it.effect("the token inventory reads each page with a single SQL statement", () => {
  const statements: Array<string> = []
  const counting = Layer.effect(
    ReadSql,
    Effect.map(ReadSql, (read) =>
      Object.assign(
        new Proxy(read, {
          apply(target, self, args) {
            const [parts] = args
            if (Array.isArray(parts) && /^\s*(?:WITH|SELECT)/.test(String(parts[0]))) statements.push(String(parts[0]))
            return Reflect.apply(target, self, args)
          }
        }),
        {}
      )
    )
  )
  return Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const { subject } = yield* newPerson("ann")
    for (let n = 0; n < 3; n++) yield* newToken(subject)
    const first = yield* tokens.inventory(subject, { limit: 1 })
    statements.length = 0
    yield* tokens.inventory(subject, { limit: 1, cursor: first.next_cursor ?? undefined })
    expect(statements.length).toBe(1)
  }).pipe(
    Effect.provide(AccessTokens.layer.pipe(Layer.provide(counting), Layer.provideMerge(Layer.fresh(testAccounts))))
  )
})
