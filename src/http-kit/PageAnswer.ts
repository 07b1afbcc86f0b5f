import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { RefusalEnvelope } from "../../schema/api/Middleware.ts"

/** An HTML page for people. */
export const Page = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))

/** The page has not been modified, so the browser keeps its copy. */
export const Unchanged = HttpApiSchema.Empty(304)

/** Refusals in the form of pages, with the statuses that people may see. */
export const refusalPages = [400, 401, 403, 404, 409, 413, 415, 429, 500, 501, 503].map((status) =>
  Page.pipe(HttpApiSchema.status(status))
)

/** Refusals for a page that does not exist on a server without a dashboard. */
export const refusalsOfPage = [...refusalPages, RefusalEnvelope.pipe(HttpApiSchema.status(405))]

/** Sends the browser to another address. */
export const Redirect = HttpApiSchema.WithHeaders(HttpApiSchema.Empty(303), { location: Schema.String })
