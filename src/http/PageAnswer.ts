import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { RefusalEnvelope } from "../../schema/api/Middleware.ts"

/** A page for a person. */
export const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))

/** The browser keeps its current page. */
export const Unchanged = HttpApiSchema.Empty(304)

/** The same for refusals: the statuses that a person may see. */
export const refusalPages = [400, 401, 403, 404, 409, 413, 415, 429, 500, 501, 503].map((status) =>
  Page.pipe(HttpApiSchema.status(status))
)

/** The same for a page that a server without a dashboard does not have. */
export const refusalsOfPage = [...refusalPages, RefusalEnvelope.pipe(HttpApiSchema.status(405))]

/** The browser continues to another address. */
export const Redirect = HttpApiSchema.WithHeaders(HttpApiSchema.Empty(303), { location: Schema.String })
