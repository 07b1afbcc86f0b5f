import { Effect } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { publishedSchemas, publishedText } from "../../../schema/manifest/PublishedSchemas.ts"

/** `/schemas/{file}`: the published structural schemas, for editors and external checks. */
export const schemaRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    for (const schema of publishedSchemas) {
      const response = yield* Effect.cached(
        Effect.sync(() =>
          HttpServerResponse.text(publishedText(schema), {
            contentType: "application/schema+json",
            headers: { "cache-control": "public, max-age=3600", "access-control-allow-origin": "*" }
          })
        )
      )
      yield* router.add("GET", `/schemas/${schema.fileName}`, response)
    }
  })
)
