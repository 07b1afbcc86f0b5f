import { Effect, Redacted, Schema } from "effect"
import { Cookies, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { DemoFailed } from "./DemoFailed.ts"

/** Account with which a demo signs in. */
export const demoAccount = { email: "demo@example.com", password: "a password of the demo" }

const Created = Schema.Struct({ token: Schema.String })
const decodeCreated = HttpClientResponse.schemaBodyJson(Created)

/**
 * Acts as the first user of an installation would: redeems the setup link, signs in again with the password, and creates a
 * token for the remaining steps. It sends the same requests as the dashboard.
 */
export const signInForFirstTime = Effect.fn("signInForFirstTime")(
  function* (url: string, secret: Redacted.Redacted) {
    const client = yield* HttpClient.HttpClient
    const post = (path: string, body: Schema.Json, cookie?: string) =>
      HttpClientRequest.post(`${url}${path}`).pipe(
        HttpClientRequest.setHeaders({ origin: url, ...(cookie === undefined ? {} : { cookie }) }),
        HttpClientRequest.bodyJsonUnsafe(body),
        client.execute,
        Effect.flatMap(HttpClientResponse.filterStatusOk)
      )
    yield* post("/auth/setup", { secret: Redacted.value(secret), displayName: "Demo", ...demoAccount })
    // Sends every cookie from the sign-in response, as a browser does, in any order.
    const cookie = Cookies.toCookieHeader((yield* post("/auth/sign-in", demoAccount)).cookies)
    const response = yield* post("/api/v1/account/tokens", { name: "svc demo", scopes: ["read", "write"] }, cookie)
    return Redacted.make((yield* decodeCreated(response)).token)
  },
  Effect.mapError((error) => new DemoFailed({ message: `Signing in failed: ${error.message}` }))
)
