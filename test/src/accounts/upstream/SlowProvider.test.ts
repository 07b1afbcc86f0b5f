import { expect, setDefaultTimeout } from "bun:test"
import type { ServerResponse } from "node:http"
import { Context, Deferred, Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { UpstreamProvider } from "../../../../src/accounts/upstream/UpstreamProvider.ts"
import { quietPlatform } from "../../../e2e/support/AttackedServer.ts"
import { providerClient, providerSecret, signInProvider } from "../../../e2e/support/SignInProvider.ts"
import { it } from "../../../support/Effect.ts"

setDefaultTimeout(60_000)

const redirectUri = "https://svc.example.com/auth/upstream/callback"
const proof = { codeVerifier: Redacted.make("v".repeat(43)), nonce: "nonce", state: "state" }
const ann = { sub: "ann-there", email: "ann@example.test", email_verified: true }

/** Creates an installation with this timeout for its provider. */
const installation = Effect.fnUntraced(function* (issuer: string, within: Duration.Duration) {
  const settings = {
    issuer,
    clientId: providerClient,
    clientSecret: Redacted.make(providerSecret),
    name: "Acme ID",
    trust: "email_verified" as const,
    scopes: "openid email profile",
    groupsClaim: "groups"
  }
  const provider = Context.get(yield* Layer.build(UpstreamProvider.layer(settings, within)), UpstreamProvider)
  return (authorize: (location: string) => URLSearchParams) =>
    Effect.gen(function* () {
      const location = yield* provider.authorizationUrl(proof, redirectUri, false)
      const answer = new URL(`${redirectUri}?${authorize(location).toString()}`)
      return yield* provider.identity(answer, proof, { groups: true, fresh: false })
    })
})

/** Sends a byte from time to time, but never finishes the response. */
const trickle = (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json" })
  response.write('{"more":"')
  const timer = setInterval(() => response.write("x"), 20)
  response.on("close", () => clearInterval(timer))
}

const slow: ReadonlyArray<readonly [kind: string, answer: (response: ServerResponse) => void]> = [
  ["answers a byte at a time", trickle],
  ["accepts the request and is silent", () => {}]
]

const paths = ["/.well-known/openid-configuration", "/token", "/jwks", "/userinfo"]

const cases = slow.flatMap(([kind, answer]) => paths.map((path) => ({ kind, answer, path })))

it.live("a sign-in ends with a clear reason if its provider never finishes a response", () =>
  Effect.forEach(
    cases,
    Effect.fnUntraced(function* ({ answer, kind, path }) {
      const provider = yield* signInProvider("slow")
      const signIn = yield* installation(provider.issuer, Duration.seconds(1))
      const closed = yield* Deferred.make<void>()
      provider.state.lie = {
        answer: (asked, response) => {
          if (asked !== path) return false
          response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
          answer(response)
          return true
        }
      }
      const refused = yield* Effect.flip(signIn((location) => provider.authorize(location, ann)))
      expect([path, kind, refused.reason]).toEqual([path, kind, "unreachable"])
      yield* Deferred.await(closed)
      // The next sign-in sends a new request instead of waiting for the request that is stuck.
      provider.state.lie = { userInfo: { groups: [] } }
      const again = yield* signIn((location) => provider.authorize(location, ann))
      expect([path, kind, again.subject]).toEqual([path, kind, "ann-there"])
    }),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.provide(quietPlatform))
)

it.live("one unfinished provider response does not block other people's sign-ins", () =>
  Effect.gen(function* () {
    const provider = yield* signInProvider("slow")
    const signIn = yield* installation(provider.issuer, Duration.minutes(1))
    const asked = yield* Deferred.make<ServerResponse>()
    provider.state.lie = {
      userInfo: { groups: [] },
      answer: (path, response) => {
        if (path !== "/token" || Deferred.isDoneUnsafe(asked)) return false
        Deferred.doneUnsafe(asked, Effect.succeed(response))
        trickle(response)
        return true
      }
    }
    const first = yield* Effect.forkScoped(Effect.flip(signIn((location) => provider.authorize(location, ann))))
    const response = yield* Deferred.await(asked)
    const bob = yield* signIn((location) => provider.authorize(location, { ...ann, sub: "bob-there" }))
    expect(bob.subject).toBe("bob-there")
    expect(first.pollUnsafe()).toBeUndefined()
    response.destroy()
    expect((yield* Fiber.join(first)).reason).toBe("invalid_answer")
  }).pipe(Effect.provide(quietPlatform))
)
