import { Context, Effect, Layer, Redacted, References } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { type ProvisioningRule, ProvisioningRules } from "../../../../actors/access/member/ProvisioningRules.ts"
import { AttemptLimits } from "../../../../src/accounts/AttemptLimits.ts"
import { UpstreamProvider, type UpstreamSettings } from "../../../../src/accounts/upstream/UpstreamProvider.ts"
import { upstreamRoutes } from "../../../../src/accounts/upstream/UpstreamRoutes.ts"
import { HttpSettings, implementedFeatures } from "../../../../src/http-kit/HttpSettings.ts"
import { commonHeaders } from "../../../../src/http/CommonHeaders.ts"
import { newPerson, testAccounts } from "../../../support/Accounts.ts"
import { checkedAnswers } from "../../../support/description/CheckedAnswers.ts"
import { strangers } from "../../../support/Attempts.ts"
import type { pliantProvider, TokenPlan } from "./UpstreamIssuer.ts"
import { upstreamSecret } from "./UpstreamIssuer.ts"

export const origin = "https://svc.example.com"
export const redirectUri = `${origin}/auth/upstream/callback`

/** Sign-in attempts counted so far. */
export const counted = { entered: 0 }
const countedAttempts = Layer.succeed(AttemptLimits, {
  consume: () => Effect.void,
  enter: () =>
    Effect.sync(() => {
      counted.entered++
    })
})

/** The provisioning rules in force, which a test may replace. */
export const policy: { rules: ReadonlyArray<ProvisioningRule> | undefined } = { rules: undefined }

/** Accounts, behind the routes for upstream sign-in. */
export const upstreamAccounts = Layer.mergeAll(
  testAccounts.pipe(Layer.provide(Layer.succeed(ProvisioningRules, policy))),
  Layer.succeed(ProvisioningRules, policy),
  Layer.succeed(References.MinimumLogLevel, "None"),
  countedAttempts,
  strangers,
  Layer.succeed(HttpSettings, {
    baseUrl: origin,
    version: "0.0.0",
    displayName: "svc",
    features: implementedFeatures,
    auth: { oidc: true, password: false }
  })
)

/** Creates a browser at an installation whose upstream provider is `issuer`. */
export const installation = Effect.fnUntraced(function* (issuer: string, settings: Partial<UpstreamSettings> = {}) {
  const services = yield* Effect.context<Layer.Success<typeof upstreamAccounts>>()
  const provider = UpstreamProvider.layer({
    issuer,
    clientId: "svc",
    clientSecret: Redacted.make(upstreamSecret),
    name: "Acme ID",
    trust: "email_verified",
    scopes: "openid email profile",
    groupsClaim: "groups",
    ...settings
  })
  const { dispose, handler } = HttpRouter.toWebHandler(
    Layer.mergeAll(upstreamRoutes, commonHeaders).pipe(
      Layer.provide(HttpServer.layerServices),
      Layer.provideMerge(Layer.mergeAll(provider, Layer.succeedContext(services)))
    ),
    { disableLogger: true }
  )
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const checked = checkedAnswers(handler)
  const jar = new Map<string, string>()
  const visit = Effect.fnUntraced(function* (
    address: string,
    headers: Record<string, string> = {},
    method = "GET",
    sent?: string
  ) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ")
    const request = new Request(new URL(address, origin), {
      method,
      headers: { ...headers, cookie },
      ...(sent === undefined ? {} : { body: sent })
    })
    const response = yield* Effect.promise(() => checked(request, Context.empty()))
    for (const line of response.headers.getSetCookie()) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split("=")
      if (value === "") jar.delete(name)
      else jar.set(name, value)
    }
    const body = yield* Effect.promise(() => response.text())
    return {
      status: response.status,
      location: response.headers.get("location") ?? "",
      headers: response.headers,
      body
    }
  })
  const whoAmI = Effect.gen(function* () {
    const secret = jar.get("__Host-svc_session")
    if (secret === undefined) return undefined
    return (yield* (yield* Sessions).authenticate(Redacted.make(secret))).subject
  })
  return { visit, jar, whoAmI }
})

/** Creates a person whose address was set by the operator. */
export const verifiedPerson = Effect.fnUntraced(function* (name: string) {
  const person = yield* newPerson(name)
  yield* (yield* Users).proveAddress(person.subject, person.email, "operator")
  return person
})

export type Installation = Effect.Success<ReturnType<typeof installation>>
export type Pliant = Effect.Success<typeof pliantProvider>

/** Returns the provider's response, built from the plan. */
export const answerOf = Effect.fnUntraced(function* (
  { visit }: Installation,
  { issuer, state }: Pliant,
  location: string,
  plan: TokenPlan = {},
  change: (answer: URLSearchParams) => void = () => {}
) {
  const asked = new URL(location).searchParams
  state.plan = plan
  state.nonce = asked.get("nonce") ?? ""
  const answer = new URLSearchParams({ code: "c", state: asked.get("state") ?? "", iss: issuer })
  change(answer)
  return yield* visit(`/auth/upstream/callback?${answer.toString()}`)
})

/** Starts a sign-in and returns the provider's response at once. */
export const signIn = Effect.fnUntraced(function* (
  here: Installation,
  provider: Pliant,
  plan: TokenPlan = {},
  change: (answer: URLSearchParams) => void = () => {}
) {
  const { location } = yield* here.visit("/auth/upstream/start?return=/w/acme")
  return yield* answerOf(here, provider, location, plan, change)
})
