import { afterAll, expect } from "bun:test"
import { Context, Effect } from "effect"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { suite } from "../../../support/Effect.ts"
import { anotherPliantServer, connect, expire, Pliant, sharedPliantPlane, tokensOf } from "./support/PliantPlane.ts"

const tests = suite(sharedPliantPlane)
afterAll(tests.dispose)

const refreshes = Effect.map(
  Pliant,
  ({ state }) => state.forms.filter((form) => form.get("grant_type") === "refresh_token").length
)

tests.live(
  "two servers that renew a Connection's tokens at the same moment send one request, and both can use the new tokens",
  () =>
    Effect.gen(function* () {
      const here = yield* ConnectionCommands
      const there = Context.get(yield* anotherPliantServer, ConnectionCommands)
      const { id } = yield* connect()
      for (let time = 1; time <= 5; time++) {
        const former = yield* tokensOf(id)
        yield* expire(id)
        yield* Effect.all([here.RenewTokens(id), there.RenewTokens(id)], { concurrency: 2 })
        expect(yield* refreshes).toBe(time)
        expect((yield* tokensOf(id)).accessToken).not.toBe(former.accessToken)
        expect((yield* (yield* Connections).read(id)).status).toBe("verified")
      }
    }).pipe(Effect.provide(platform)),
  120_000
)
