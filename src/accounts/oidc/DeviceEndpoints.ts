import { Duration, Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { Authorizations } from "../../../actors/access/issuer/Authorizations.ts"
import type { Client } from "../../../actors/access/issuer/Client.ts"
import { Clients } from "../../../actors/access/issuer/Clients.ts"
import { type DeviceRequest, DeviceCodes } from "../../../actors/access/issuer/DeviceCodes.ts"
import { displayUserCode, normaliseUserCode } from "../../../actors/access/issuer/IdentitySecrets.ts"
import { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { devicePollSeconds, lifetimes } from "../../../actors/access/issuer/Lifetimes.ts"
import { failClosed, type OAuthError, refuse } from "../../../actors/access/issuer/OAuthError.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { routeOf, type RouteServices } from "../../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { AttemptLimits } from "../AttemptLimits.ts"
import { requireSameOrigin } from "../SessionCookie.ts"
import { boundWorkspace, requestedScopes, requestedTarget, workspaceSelector } from "./AuthorizationRequest.ts"
import { authenticatedClient } from "./ClientAuthentication.ts"
import { identityList, permissionList, refusalPage } from "./ConsentPage.ts"
import { toSignIn } from "./FreshSignIn.ts"
import { IssuerApi, IssuerPagesApi } from "./IssuerApi.ts"
import { answeringJson, freshJson } from "./OAuthAnswers.ts"
import { html, type Markup, page } from "./Page.ts"
import { type PageWords, pageLanguage, pageWords } from "./PageWords.ts"
import { formParameters, parseParameters, queryParameters, singleFormParameters } from "./Parameters.ts"
import { formToken, formTokenHolds, remoteAddress, type Visitor, visitor } from "./Visitor.ts"
import { StoredWorkspace } from "../../../actors/ledger/workspace/StoredWorkspace.ts"

const { path } = IssuerPagesApi.endpoints.device
const grantType = "urn:ietf:params:oauth:grant-type:device_code"

const begin = Effect.gen(function* () {
  const limits = yield* AttemptLimits
  yield* limits.consume("authorize", { address: yield* remoteAddress })
  const devices = yield* DeviceCodes
  const { issuer } = yield* IssuerSettings
  const parameters = yield* singleFormParameters
  const client = yield* authenticatedClient(parameters)
  if (!client.grantTypes.includes(grantType)) {
    return yield* refuse("unauthorized_client", "The client is not registered for the device flow.")
  }
  const selected = yield* Effect.fromResult(workspaceSelector(parameters))
  const asksFor = yield* requestedTarget(parameters, client)
  const { deviceCode, userCode } = yield* failClosed(
    devices.begin({
      clientId: client.id,
      scopes: yield* Effect.fromResult(requestedScopes(parameters, client, asksFor)),
      workspaceId: yield* Effect.fromResult(boundWorkspace(client, selected)),
      resource: asksFor.resource
    })
  )
  return freshJson(
    {
      device_code: Redacted.value(deviceCode),
      user_code: displayUserCode(userCode),
      verification_uri: `${issuer}${path}`,
      verification_uri_complete: `${issuer}${path}?user_code=${displayUserCode(userCode)}`,
      expires_in: Duration.toSeconds(lifetimes.deviceCode),
      interval: devicePollSeconds
    },
    { crossOrigin: false }
  )
})

const pageOf = Effect.fnUntraced(function* (body: (words: PageWords) => Markup, status = 200) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const language = pageLanguage(undefined, headers["accept-language"])
  const words = pageWords[language]
  return page({ language, title: words.deviceTitle, status, body: body(words) })
})

/**
 * Creates the form for the code. If the address contains a code, it only prefills the form: the person must still compare
 * the code and submit the form.
 */
const codeForm = Effect.fnUntraced(function* (visiting: Visitor, typed: string, unknown: boolean) {
  const token = yield* formToken(visiting, "device", "code")
  return yield* pageOf(
    (words) => html`<h1>${words.deviceTitle}</h1><p id="about">${words.deviceAbout}</p>
${unknown ? html`<p class="bad" role="alert" id="fault">${words.deviceUnknown}</p>` : undefined}
<form method="post" action="${path}"><input type="hidden" name="token" value="${token}">
<p><label for="code">${words.deviceCode}</label><input class="code" id="code" name="user_code" value="${typed}" required autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="16" aria-describedby="about${unknown ? " fault" : ""}"${unknown ? html` aria-invalid="true"` : undefined}></p>
<div class="actions"><button class="main" name="decision" value="look">${words.deviceContinue}</button></div></form>`,
    unknown ? 400 : 200
  )
})

/** Binds the request to the Workspace that applies to this person. */
const inWorkspace = Effect.fnUntraced(function* (client: Client, asked: DeviceRequest, { subject }: Visitor) {
  const authorizations = yield* Authorizations
  const request: DeviceRequest = {
    ...asked,
    workspaceId: yield* authorizations.meantWorkspace(client, subject, asked)
  }
  return request
})

const waitingClient = Effect.fnUntraced(function* (request: DeviceRequest) {
  const sql = yield* ReadSql
  const clients = yield* Clients
  const found = yield* failClosed(clients.find(sql, request.clientId))
  return Option.isSome(found) ? found.value : yield* refuse("access_denied", "The client is not registered any more.")
})

/**
 * Adds to the request the Workspace that the page showed. The person's answer applies to this Workspace, even if the request
 * would now be bound to a different one.
 */
const shown = (userCode: string, { workspaceId }: Pick<DeviceRequest, "workspaceId">) =>
  `${userCode} ${workspaceId ?? ""}`

const confirm = Effect.fnUntraced(function* (visiting: Visitor, asked: DeviceRequest, userCode: string) {
  const authorizations = yield* Authorizations
  const read = yield* ReadSql
  const client = yield* waitingClient(asked)
  const request = yield* inWorkspace(client, asked, visiting)
  const authority = yield* authorizations.preview(client, visiting.subject, request.workspaceId)
  const scopes = yield* authorizations.grantable(client, visiting.subject, request)
  const [workspace] = yield* failClosed(
    StoredWorkspace.some(
      read,
      "display_name"
    )`SELECT display_name FROM workspaces WHERE id = ${request.workspaceId ?? ""}`
  )
  const token = yield* formToken(visiting, "device-decision", userCode)
  const place = yield* formToken(visiting, "device-workspace", shown(userCode, request))
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const language = pageLanguage(undefined, headers["accept-language"])
  return yield* pageOf(
    (words) => html`<h1>${words.deviceConfirm(client.name)}</h1>
<dl><dt>${words.deviceCode}</dt><dd><strong>${displayUserCode(userCode)}</strong></dd></dl>
${identityList(language, visiting.email, authority, workspace?.display_name)}
<p>${words.consentAbout(client.name)}</p>${permissionList(language, scopes)}
<p role="note">${words.deviceWarning}</p>
<form method="post" action="${path}"><input type="hidden" name="user_code" value="${userCode}"><input type="hidden" name="token" value="${token}"><input type="hidden" name="place" value="${place}">
<div class="actions"><button class="main" name="decision" value="allow">${words.allow}</button><button name="decision" value="deny">${words.deny}</button></div></form>`
  )
})

const show = Effect.gen(function* () {
  const parameters = yield* queryParameters
  const visiting = yield* visitor
  if (visiting === undefined) return yield* toSignIn(path, parameters)
  const code = normaliseUserCode(parameters.get("user_code") ?? "")
  return yield* codeForm(visiting, code === undefined ? "" : displayUserCode(code), false)
})

const decide = Effect.gen(function* () {
  yield* requireSameOrigin
  const limits = yield* AttemptLimits
  const devices = yield* DeviceCodes
  const authorizations = yield* Authorizations
  const sent = yield* formParameters
  const visiting = yield* visitor
  if (visiting === undefined) return yield* toSignIn(path, parseParameters(""))
  const userCode = normaliseUserCode(sent.get("user_code") ?? "")
  const decision = sent.get("decision")
  const looking = decision !== "allow" && decision !== "deny"
  const [name, content] = looking ? ["device", "code"] : ["device-decision", userCode ?? ""]
  if (!(yield* formTokenHolds(visiting, name, content, sent.get("token")))) {
    return yield* refuse("invalid_request", "The page was shown to another session. Start again.")
  }
  // Limit attempts to guess a code in the same way as attempts to guess a password.
  yield* limits.consume("sign_in", { address: yield* remoteAddress, subject: `device:${visiting.subject}` })
  const waiting = userCode === undefined ? undefined : yield* failClosed(devices.waiting(userCode))
  if (waiting === undefined || userCode === undefined) return yield* codeForm(visiting, "", true)
  if (looking) return yield* confirm(visiting, waiting, userCode)
  if (decision === "deny") {
    yield* authorizations.denyDevice(waiting)
    return yield* pageOf((words) => html`<h1>${words.deviceTitle}</h1><p>${words.deviceDenied}</p>`)
  }
  const { authTime, boundWorkspaceId, sessionId, subject } = visiting
  const client = yield* waitingClient(waiting)
  const request = yield* inWorkspace(client, waiting, visiting)
  const inferred = request.workspaceId !== waiting.workspaceId
  const place = sent.get("place")
  if (inferred && !(yield* formTokenHolds(visiting, "device-workspace", shown(userCode, request), place))) {
    return yield* refuse("invalid_request", "The page was shown for another Workspace. Start again.")
  }
  if (boundWorkspaceId !== undefined && boundWorkspaceId !== request.workspaceId) {
    return yield* refuse("access_denied", "The session is confined to another Workspace.")
  }
  yield* authorizations.approveDevice(client, { authTime, sessionId, subject }, request, yield* currentRequestId)
  return yield* pageOf((words) => html`<h1>${words.deviceTitle}</h1><p>${words.deviceApproved}</p>`)
})

const onPage = Effect.fnUntraced(function* (error: OAuthError | ApiError) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  return refusalPage(pageLanguage(undefined, headers["accept-language"]), {
    status: error.status,
    detail: error._tag === "ApiError" ? error.message : `${error.error}: ${error.description}`,
    requestId: yield* currentRequestId
  })
})

const onPages = <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, OAuthError | ApiError, R>) =>
  Effect.catchTags(effect, { OAuthError: onPage, ApiError: onPage })

/** Endpoints of the device flow: a device requests a code, and a person enters it in their own browser. */
export const deviceEndpoints = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const services = yield* Effect.context<RouteServices<typeof begin | typeof show | typeof decide>>()
  const provided = Effect.provideContext(services)
  yield* router.add(
    ...routeOf(IssuerApi.endpoints.deviceAuthorization),
    provided(answeringJson({ crossOrigin: false, scheme: "Basic" })(begin))
  )
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.device), provided(onPages(show)))
  yield* router.add(...routeOf(IssuerPagesApi.endpoints.decideDevice), provided(onPages(decide)))
})
