import { SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { ApiError } from "../../schema/errors/ApiError.ts"

const maxFaults = 8
const maxSegment = 64

const places = { Params: "path", Query: "query", Headers: "header", Payload: "body" } as const

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1({
  // If a rule has its own message, that message is more helpful than the pattern.
  checkHook: (issue) => {
    const description = issue.filter.annotations?.["description"]
    return typeof description === "string" ? `Expected ${description}` : SchemaIssue.defaultCheckHook(issue)
  }
})

const segment = (part: PropertyKey): string => {
  const text = String(part)
  return text.length > maxSegment ? `${text.slice(0, maxSegment)}...` : text
}

const describe = (
  place: string,
  issue: { readonly path?: ReadonlyArray<unknown> | undefined; readonly message: string }
) => {
  const path = [place, ...(issue.path ?? []).map((part) => segment(typeof part === "number" ? part : String(part)))]
  const message = issue.message === "Expected no excess property" ? "is not a known field" : issue.message
  return `${path.join(".")}: ${message}`
}

/**
 * The refusal of a request that does not match its schemas: lists every invalid field by its path, with what was expected. It
 * never contains values. `undefined` when the server's own response is at fault.
 */
export const requestFault = (error: HttpApiError.HttpApiSchemaError): ApiError | undefined => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return undefined
  const place = places[error.kind]
  const faults = [...new Set(formatIssues(error.cause.issue).issues.map((issue) => describe(place, issue)))]
  const shown = faults.slice(0, maxFaults)
  const more = faults.length > shown.length ? ` (and ${faults.length - shown.length} more)` : ""
  return new ApiError({ code: "invalid_request", message: `The request is not valid. ${shown.join("; ")}${more}` })
}
