import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { publishedSchemas, publishedText } from "../../../schema/manifest/PublishedSchemas.ts"
import { notFound } from "../../../schema/errors/ApiError.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { DocumentsApi } from "../DocumentsApi.ts"

/** Serves `/schemas/{file}`, the published structural schemas for editors and external checks. */
export const schemaRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const responses = new Map<string, Effect.Effect<HttpServerResponse.HttpServerResponse>>()
    for (const schema of publishedSchemas) {
      const response = yield* Effect.cached(
        Effect.sync(() =>
          HttpServerResponse.text(publishedText(schema), {
            contentType: "application/schema+json",
            headers: { "cache-control": "public, max-age=3600", "access-control-allow-origin": "*" }
          })
        )
      )
      responses.set(schema.fileName, response)
    }
    yield* router.add(
      ...routeOf(DocumentsApi.endpoints.schema),
      Effect.flatMap(
        HttpRouter.params,
        ({ fileName = "" }) => responses.get(fileName) ?? Effect.fail(notFound("Schema"))
      )
    )
  })
)
