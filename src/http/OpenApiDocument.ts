import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { SvcApi } from "../../schema/api/SvcApi.ts"
import { HttpSettings } from "./HttpSettings.ts"

/** `/openapi.json`: the API definition as OpenAPI, with this server as its only address. */
export const openApiDocument = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { baseUrl } = yield* HttpSettings
    const response = yield* Effect.cached(
      Effect.sync(() => HttpServerResponse.jsonUnsafe({ ...OpenApi.fromApi(SvcApi), servers: [{ url: baseUrl }] }))
    )
    yield* router.add("GET", "/openapi.json", response)
  })
)
