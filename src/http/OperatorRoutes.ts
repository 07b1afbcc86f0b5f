import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Operators } from "../../actors/access/account/Operators.ts"
import { Audit } from "../../actors/base/audit/Audit.ts"
import type { Principal } from "../../actors/base/credential/Principal.ts"
import { Sources } from "../../actors/ledger/source/Sources.ts"
import { ResolveStableSemver } from "../../schema/api/SourcesApi.ts"
import { ApiError, invalidRequest } from "../../schema/errors/ApiError.ts"
import { SourceId, SourceSnapshotId, WorkspaceId } from "../../schema/records/Ids.ts"
import { AttemptLimits } from "../accounts/AttemptLimits.ts"
import { authBody } from "../accounts/AuthBody.ts"
import { uncached } from "../accounts/Uncached.ts"
import { Authenticator } from "../http-kit/Authenticator.ts"
import { presentedCredential } from "../http-kit/Credentials.ts"
import { scopeRefusal } from "./authorization/Permission.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { pathId } from "./handlers/Commands.ts"
import { HttpSettings, sessionCookieName } from "../http-kit/HttpSettings.ts"
import { OperatorApi } from "./OperatorApi.ts"

const denied = (message: string) => new ApiError({ code: "permission_denied", message })

const tokenNeeded = denied("The operator's routes need a personal access token; sessions and applications are refused.")
const confined = denied("The token is bound to one Workspace; the operator's routes need one of the whole account.")
const notOperator = denied("You are no operator of this installation. `svc admin operators grant` makes somebody one.")

/**
 * Identifies the operator behind the request by reading the database every time. Never accepts a cookie, so that a web page
 * cannot act as an operator.
 */
const operator = Effect.gen(function* () {
  const { headers, method } = yield* HttpServerRequest.HttpServerRequest
  const { baseUrl } = yield* HttpSettings
  const presented = yield* Effect.fromResult(presentedCredential(headers, sessionCookieName(baseUrl)))
  const authenticator = yield* Authenticator
  const principal =
    presented.kind === "bearer"
      ? yield* authenticator.bearer(presented.secret)
      : yield* authenticator.session(presented.secret)
  const refusal = scopeRefusal(principal, method)
  if (refusal !== undefined) return yield* refusal
  const operators = yield* Operators
  if (!(yield* operators.isOperator(principal.subject))) return yield* notOperator
  if (principal.credential !== "token") return yield* tokenNeeded
  if (principal.boundWorkspaceId !== undefined) return yield* confined
  const limits = yield* AttemptLimits
  if (method !== "GET") yield* limits.consume("mutation", { subject: principal.subject })
  return principal
})

const listOperators = () =>
  Effect.gen(function* () {
    const operators = yield* Operators
    const listed = (yield* operators.list).map(({ display_name, email, status, subject }) => ({
      subject,
      email,
      ...(display_name === null ? {} : { displayName: display_name }),
      status
    }))
    return HttpServerResponse.jsonUnsafe({ operators: listed })
  })

const readFile = (by: Principal) =>
  Effect.gen(function* () {
    const { sourceId = "", sourceSnapshotId = "" } = yield* HttpRouter.params
    const id = yield* pathId(SourceId, sourceId, "Source")
    const snapshotId = yield* pathId(SourceSnapshotId, sourceSnapshotId, "SourceSnapshot")
    const { path, ...others } = yield* HttpServerRequest.ParsedSearchParams
    if (typeof path !== "string" || Object.keys(others).length > 0) {
      return yield* invalidRequest("path: name the file, once, and nothing else.")
    }
    const sources = yield* Sources
    const { workspaceId } = yield* sources.read(id)
    const file = yield* sources.file(id, snapshotId, path)
    // Record the access for the members of the Workspace, so that they can see who has read their data.
    const audit = yield* Audit
    yield* audit.append({
      workspaceId,
      actor: { kind: "token", subject: by.subject, tokenId: by.credentialId },
      action: "operator.read_file",
      target: { kind: "source", id },
      data: { sourceSnapshotId: snapshotId, path },
      requestId: yield* currentRequestId
    })
    return HttpServerResponse.jsonUnsafe(file)
  })

const semverBody = authBody(ResolveStableSemver, "{url}")

const resolveTag = () =>
  Effect.gen(function* () {
    const { workspaceId = "" } = yield* HttpRouter.params
    const id = yield* pathId(WorkspaceId, workspaceId, "Workspace")
    const { url } = yield* semverBody
    const sources = yield* Sources
    return HttpServerResponse.jsonUnsafe(yield* sources.stableSemver(id, url))
  })

/**
 * The operator's routes over HTTP, all read-only: isolation, allowed origins, policy and keys can be changed only with `svc
 * admin`. The routes are not part of the API, and no Workspace role grants access to them.
 */
export const operatorRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { file, operators, stableSemver } = OperatorApi.endpoints
    yield* router.add(...routeOf(operators), uncached(Effect.flatMap(operator, listOperators)))
    yield* router.add(...routeOf(file), uncached(Effect.flatMap(operator, readFile)))
    yield* router.add(...routeOf(stableSemver), uncached(Effect.flatMap(operator, resolveTag)))
  })
)
