import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ApiError, invalidRequest } from "../../schema/errors/ApiError.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { readBodyBytes } from "../http-kit/RequestBody.ts"
import { SignedOutPagesApi, SetupForm, SignInForm } from "./declarations/SignedOutPagesApi.ts"
import { seeOther } from "./oidc/AuthorizationResponse.ts"
import { pageLanguage, type Language } from "./oidc/PageWords.ts"
import { sameOriginPath } from "./SameOriginPath.ts"
import { countAttempt, signInByPassword, signInBySetup, requirePasswords } from "./CredentialSignIn.ts"
import { requireSameOrigin } from "./SessionCookie.ts"
import { withSignIn } from "./SignedIn.ts"
import { plainMessage, signInRefusalPage } from "./SignInRefusalPage.ts"
import { onwardPage } from "./oidc/OnwardPage.ts"

const words = {
  en: { title: "You are signed in", text: "Continue" },
  ja: { title: "サインインしました", text: "続ける" }
} as const satisfies Readonly<Record<Language, unknown>>

/** Continues to a path on this server. From there, the sign-in may redirect to another site. */
const signedInPage = (language: Language, path: string) => onwardPage({ language, ...words[language], address: path })

const maxFormBytes = 16_384
const formType = /^application\/x-www-form-urlencoded(?:\s*;|$)/i

/**
 * Parses the fields of a form sent by a browser without scripts. An empty field is treated as omitted. Errors never quote
 * the fields.
 */
const form = <A, I>(schema: Schema.Codec<A, I>) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    if (!formType.test(headers["content-type"] ?? "")) {
      return yield* new ApiError({ code: "unsupported_media_type", message: "Send the form of the page." })
    }
    const fields = new URLSearchParams(new TextDecoder().decode(yield* readBodyBytes(maxFormBytes)))
    // Use a password exactly as typed, including whitespace. Trim other fields, which may be pasted.
    const said = [...fields].map(([name, value]) => [name, name === "password" ? value : value.trim()] as const)
    const given = Object.fromEntries(said.filter(([, value]) => value !== ""))
    return yield* Schema.decodeUnknownEffect(schema)(given).pipe(
      Effect.mapError(() => invalidRequest("The form is not complete. Go back and fill in what is missing."))
    )
  })

const signInForm = form(SignInForm)
const setupForm = form(SetupForm)

/** Returns the path to open after sign-in. Only the page's address contains this path. */
const wantedPath = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  const referrer = headers["referer"]
  const page = referrer !== undefined && URL.canParse(referrer) ? new URL(referrer) : undefined
  const mine = page !== undefined && page.origin === new URL(baseUrl).origin
  return sameOriginPath(mine ? (page.searchParams.get("return") ?? undefined) : undefined, baseUrl)
})

const language = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
  pageLanguage(undefined, headers["accept-language"])
)

/** Paths from which the sign-in may redirect to another site. */
const issuerPaths = "/oauth/"

const signIn = Effect.gen(function* () {
  yield* requireSameOrigin
  yield* requirePasswords
  const opened = yield* signInByPassword(yield* signInForm)
  const { baseUrl } = yield* HttpSettings
  const path = yield* wantedPath
  const leadsOn = path.startsWith(issuerPaths)
  return yield* withSignIn(leadsOn ? signedInPage(yield* language, path) : seeOther(`${baseUrl}${path}`), opened)
})

const setup = Effect.gen(function* () {
  yield* requireSameOrigin
  yield* countAttempt
  const opened = yield* signInBySetup(yield* setupForm)
  const { baseUrl } = yield* HttpSettings
  return yield* withSignIn(seeOther(`${baseUrl}/`), opened)
})

const onPage = Effect.fnUntraced(function* ({ message, status }: ApiError) {
  return signInRefusalPage(yield* language, {
    status,
    body: plainMessage(message),
    requestId: yield* currentRequestId
  })
})

/**
 * Handles the forms of the signed-out pages as a browser without scripts submits them. Responds with pages and redirects.
 */
export const plainForms = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = <R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>) =>
      Effect.catch(route, onPage)
    yield* router.add(...routeOf(SignedOutPagesApi.endpoints.signIn), provided(signIn))
    yield* router.add(...routeOf(SignedOutPagesApi.endpoints.setup), provided(setup))
  })
)
