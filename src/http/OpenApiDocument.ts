import { createHash } from "node:crypto"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { DocumentsApi } from "./DocumentsApi.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { describedGroups } from "./description/DescribedGroups.ts"
import { ServerApi } from "./ServerApi.ts"

/** All routes of the server with their descriptions. Built on the first request for the document, to keep startup fast. */
export const describedApi = () => ServerApi.add(...describedGroups())

/** Serves `/openapi.json`, which describes every route of the server as OpenAPI. The document lists only this server. */
export const openApiDocument = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { baseUrl } = yield* HttpSettings
    const document = yield* Effect.cached(
      Effect.sync(() => {
        const text = JSON.stringify({ ...OpenApi.fromApi(describedApi()), servers: [{ url: baseUrl }] })
        const tag = `"${createHash("sha256").update(text).digest("base64url")}"`
        // Let clients revalidate the document, which changes only with a release.
        const headers = { etag: tag, "cache-control": "no-cache" }
        return {
          tag,
          whole: HttpServerResponse.text(text, { contentType: "application/json", headers }),
          unchanged: HttpServerResponse.empty({ status: 304, headers })
        }
      })
    )
    yield* router.add(
      ...routeOf(DocumentsApi.endpoints.openapi),
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { tag, unchanged, whole } = yield* document
        return headers["if-none-match"] === tag ? unchanged : whole
      })
    )
  })
)
