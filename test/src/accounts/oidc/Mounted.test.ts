import { expect } from "bun:test"
import { Effect } from "effect"
import * as client from "openid-client"
import { platform } from "../../../../src/composition/Platform.ts"
import { it } from "../../../support/Effect.ts"
import { servedPerson } from "../../support/ServedPerson.ts"
import { formFields } from "./support/Browser.ts"

it.live("a control plane serves its issuer, and accepts the tokens it issues", () =>
  Effect.gen(function* () {
    const { cookie, subject, url } = yield* servedPerson
    const headers = {
      cookie,
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded"
    }
    const visit = (body?: Record<string, string>) =>
      Effect.promise(() =>
        fetch(`${url}/oauth/device`, {
          headers,
          ...(body === undefined ? {} : { method: "POST", body: new URLSearchParams(body).toString() })
        }).then((response) => response.text())
      )

    const discovery = yield* Effect.promise(() => fetch(`${url}/.well-known/svc`).then((found) => found.json()))
    expect(discovery).toMatchObject({ features: { oidc: true }, endpoints: { oidc_issuer: url } })

    const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks]
    const config = yield* Effect.promise(() =>
      client.discovery(new URL(url), "svc-cli", undefined, client.None(), { execute })
    )
    const started = yield* Effect.promise(() =>
      client.initiateDeviceAuthorization(config, { scope: "openid read offline_access" })
    )
    const user_code = started.user_code
    const { token } = formFields(yield* visit())
    const question = formFields(yield* visit({ user_code, token, decision: "look" }))
    yield* visit({ user_code, token: question.token, decision: "allow" })
    const tokens = yield* Effect.promise(() => client.pollDeviceAuthorizationGrant(config, { ...started, interval: 0 }))
    expect(tokens.claims()?.sub).toBe(subject)

    const call = (method: string) =>
      Effect.promise(() =>
        fetch(`${url}/api/v1/workspaces`, { method, headers: { authorization: `Bearer ${tokens.access_token}` } })
      )
    expect((yield* call("GET")).status).toBe(200)
    // A token with only the scope `read` cannot make changes.
    expect((yield* call("POST")).status).toBe(403)
    yield* Effect.promise(() => client.tokenRevocation(config, tokens.refresh_token ?? ""))
    expect((yield* call("GET")).status).toBe(401)
    const wrongMethod = yield* Effect.promise(() => fetch(`${url}/oauth/token`))
    expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "POST"])
  }).pipe(Effect.provide(platform))
)
