import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ConnectedApplications } from "../../../actors/access/issuer/ConnectedApplications.ts"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import { routeOf, type RouteServices } from "../../http-kit/DeclaredRoute.ts"
import { errorResponse } from "../../http-kit/ErrorResponse.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { commandOf, signedIn, signedInToChange } from "../SignedIn.ts"
import { uncached } from "../Uncached.ts"
import { GrantList, GrantsApi } from "./GrantsApi.ts"

const encodeGrants = HttpServerResponse.schemaJson(GrantList)

const list = Effect.gen(function* () {
  const { subject } = yield* signedIn
  const applications = yield* ConnectedApplications
  const grants = (yield* applications.list(subject)).map(({ workspaceId, ...grant }) =>
    workspaceId === undefined ? grant : { ...grant, workspaceId }
  )
  return yield* Effect.orDie(encodeGrants({ grants }))
})

const revoke = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const applications = yield* ConnectedApplications
  const { grantId = "" } = yield* HttpRouter.params
  yield* applications.revoke(yield* commandOf(principal), principal.subject, grantId)
  return HttpServerResponse.empty({ status: 204 })
})

// Converts a failure to a response. Hosts mount the issuer separately, so its routes handle their own failures.
const refusal = (error: ApiError) => Effect.map(currentRequestId, (requestId) => errorResponse(error, requestId))

/** Lists and revokes the applications that act on behalf of the signed-in person. */
export const grantEndpoints = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const services = yield* Effect.context<RouteServices<typeof list | typeof revoke>>()
  const provided = <R>(route: Effect.Effect<HttpServerResponse.HttpServerResponse, ApiError, R>) =>
    Effect.provideContext(uncached(Effect.catch(route, refusal)), services)
  yield* router.add(...routeOf(GrantsApi.endpoints.list), provided(list))
  yield* router.add(...routeOf(GrantsApi.endpoints.revoke), provided(revoke))
})
