import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../schema/api/Middleware.ts"
import { publishedSchemas } from "../../schema/manifest/PublishedSchemas.ts"
import { everyone } from "../http-kit/RouteAccess.ts"

const Document = Schema.Record(Schema.String, Schema.Json)

/** Documents about this server for tools: its OpenAPI description and the published schemas. */
export class DocumentsApi extends describedGroup("documents", "This description, and the published schemas.")
  .add(
    HttpApiEndpoint.get("openapi", "/openapi.json", {
      success: [
        HttpApiSchema.WithHeaders(Document, { etag: Schema.String }),
        HttpApiSchema.WithHeaders(HttpApiSchema.Empty(304), { etag: Schema.String })
      ]
    }).annotateMerge(
      describedRoute(
        everyone,
        "This description",
        "OpenAPI 3.1 of every route of this server. With an `ETag`: send it as `If-None-Match`, and an unchanged document is 304."
      )
    ),
    HttpApiEndpoint.get("schema", "/schemas/:fileName", {
      params: { fileName: Schema.Literals(publishedSchemas.map(({ fileName }) => fileName)) },
      success: Document.pipe(HttpApiSchema.asJson({ contentType: "application/schema+json" }))
    }).annotateMerge(
      describedRoute(everyone, "A published JSON Schema", "For editors and for checks outside of this server.")
    )
  )
  .middleware(Envelope) {}
