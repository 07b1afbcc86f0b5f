import { afterAll, expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { makeSecretTexts } from "../../../../actors/ledger/state/ShownAddresses.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { Redaction } from "../../../../runner/redaction/Redaction.ts"
import type { SecretText } from "../../../../runner/redaction/SecretText.ts"
import { testDatabase } from "../../../support/Database.ts"
import { suite } from "../../../support/Effect.ts"

const tests = suite(Redaction.layer.pipe(Layer.provideMerge(testDatabase)))
afterAll(tests.dispose)

const secretsOf = (count: number): ReadonlyArray<SecretText> =>
  Array.from({ length: count }, (_, index) => ({ origin: "var.users", value: Redacted.make(`secret-number-${index}`) }))
const texts = ["secret-number-7", "public-key", "another"]

tests.live("svc searches addresses for a few secrets immediately, even inside a transaction", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secretTexts = makeSecretTexts(yield* Redaction)
    expect([...(yield* transaction(sql)(secretTexts(texts, secretsOf(10))))]).toEqual(["secret-number-7"])
    expect([...(yield* secretTexts(texts, secretsOf(10)))]).toEqual(["secret-number-7"])
  })
)

tests.live(
  "a transaction with many secrets uses results prepared beforehand, and hides every key that has no result",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const secretTexts = makeSecretTexts(yield* Redaction)
      const many = secretsOf(2000)
      expect([...(yield* transaction(sql)(secretTexts(texts, many)))]).toEqual(texts)
      expect([...(yield* secretTexts(texts, many))]).toEqual(["secret-number-7"])
      expect([...(yield* transaction(sql)(secretTexts(texts, many)))]).toEqual(["secret-number-7"])
      // The cached result is valid for these secrets only.
      expect([...(yield* transaction(sql)(secretTexts(texts, secretsOf(2001))))]).toEqual(texts)
    })
)
