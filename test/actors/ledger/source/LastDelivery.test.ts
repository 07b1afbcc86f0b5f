import { afterAll, describe, expect } from "bun:test"
import { Effect, Stream } from "effect"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const body = Stream.make(new TextEncoder().encode("{}"))

describe("Last webhook delivery", () => {
  tests.live("a Source records the verdict and the Runs of its last webhook delivery", () =>
    Effect.gen(function* () {
      const { context, url, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      const { hookSecret, source } = yield* sources.create(context, { workspaceId, name: "delivered", url })
      const last = Effect.map(sources.read(source.id), ({ lastDelivery }) => lastDelivery)
      const deliver = (secret: string, more: { readonly isPing?: boolean; readonly deliveryId?: string } = {}) =>
        Effect.exit(sources.hook(source.id, { proofs: { secrets: [secret] }, body, ...more }))
      expect(yield* last).toBeUndefined()
      yield* deliver("a wrong secret")
      expect(yield* eventually(last, (found) => found !== undefined)).toMatchObject({
        verdict: "unproven",
        runCount: 0
      })
      yield* deliver(hookSecret, { isPing: true })
      expect(yield* last).toMatchObject({ verdict: "ping" })
      yield* deliver(hookSecret)
      expect(yield* last).toMatchObject({ verdict: "not_following" })
      yield* (yield* SourceCommands).Update(source.id, { context, request: { autoSync: true } })
      yield* deliver(hookSecret, { deliveryId: "one" })
      expect(yield* last).toMatchObject({ verdict: "accepted", runCount: 1 })
      yield* deliver(hookSecret, { deliveryId: "one" })
      expect(yield* last).toMatchObject({ verdict: "repeated", runCount: 0 })
    })
  )
})
