import { expect } from "bun:test"
import { Effect, Stream } from "effect"
import type { RunFrames } from "../../../src/streams/RunFrames.ts"
import { WebSockets } from "../../../src/streams/WebSockets.ts"
import { it } from "../../support/Effect.ts"

const following = (subject: string): RunFrames => ({
  subject,
  requestId: "req_a",
  after: 0,
  frames: Stream.never,
  deliver: () => Effect.never
})

const sink = { send: () => 1, close: () => {}, terminate: () => {} }

it.effect("an account may hold a thousand sockets, and must close one before it can open another", () =>
  Effect.gen(function* () {
    const sockets = yield* WebSockets
    const held = Array.from({ length: 1000 }, () => sockets.open(following("usr_ada"), sink))
    const refused = yield* Effect.flip(sockets.admit("usr_ada"))
    expect([refused.code, refused.retryAfter]).toEqual(["rate_limited", 10])
    yield* sockets.admit("usr_bob")
    held[0]?.closed()
    yield* sockets.admit("usr_ada")
  }).pipe(Effect.provide(WebSockets.layer))
)
