import { Context, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type AssetSet, assetFor, notFoundPageFor } from "../dashboard/Assets.ts"
import { currentRequestId } from "../http-kit/Exchange.ts"
import { unknownRouteResponse } from "./UnknownRoutes.ts"

/** Files of the dashboard. Empty if the server has no dashboard. */
export class DashboardAssets extends Context.Service<DashboardAssets, { readonly assets: Effect.Effect<AssetSet> }>()(
  "svc/src/http/DashboardAssets"
) {}

const pathOf = (url: string): string => url.replace(/[?#].*$/s, "")

/** Serves the pages and files of the dashboard. All other routes take precedence. */
export const dashboardRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const dashboard = yield* DashboardAssets
    const serve = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const assets = yield* dashboard.assets
      const asked = {
        path: pathOf(request.url),
        accept: request.headers["accept"],
        acceptEncoding: request.headers["accept-encoding"],
        acceptLanguage: request.headers["accept-language"],
        ifNoneMatch: request.headers["if-none-match"]
      }
      const answer = unknownRouteResponse(request.url, yield* currentRequestId)
      // Replace only a 404 response with the page for unknown addresses. If the path is known but the method is not, keep
      // the response.
      const found = assetFor(assets, asked) ?? (answer.status === 404 ? notFoundPageFor(assets, asked) : undefined)
      if (found === undefined) return answer
      return HttpServerResponse.uint8Array(found.body, {
        status: found.status,
        headers: found.headers,
        ...(found.headers["content-type"] === undefined ? {} : { contentType: found.headers["content-type"] })
      })
    })
    yield* router.add("GET", "/*", serve)
  })
)
