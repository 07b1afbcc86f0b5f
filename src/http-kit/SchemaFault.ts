import { SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { ApiError } from "../../schema/errors/ApiError.ts"

const maxFaults = 8

const places = { Params: "path", Query: "query", Headers: "header", Payload: "body" } as const

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1({
  // Prefer the description of a rule, because it is more helpful than the pattern.
  checkHook: (issue) => {
    const description = issue.filter.annotations?.["description"]
    return typeof description === "string" ? `Expected ${description}` : SchemaIssue.defaultCheckHook(issue)
  }
})

const longestName = 40
const nameShape = /^[A-Za-z_$][\w$.-]*$/
const tokenPrefix =
  /^(?:svc[a-z]_|gh[a-z]_|github_pat_|gl[a-z]{2,4}-|xox[a-z]-|sk[-_]|pk[-_]|eyJ|AKIA|ASIA|hvs\.|npm_|pypi-)/i
const longestMixed = 11

/**
 * Returns true for letters and digits mixed without a separator. Keys and passwords have this form, but no field name of the
 * API does.
 */
const hasMixedRun = (name: string): boolean =>
  name.split(/[^A-Za-z\d]/).some((run) => run.length > longestMixed && /\d/.test(run) && /[A-Za-z]/.test(run))

/**
 * Returns the name of a field or parameter in a request, for use in a message. Omits the name if its length or form does not
 * match any field, because it may be a secret entered in the wrong place.
 */
export const requestedName = (name: string): string =>
  name.length <= longestName && nameShape.test(name) && !tokenPrefix.test(name) && !hasMixedRun(name)
    ? name
    : "(a name that is not repeated here)"

const describe = (
  place: string,
  issue: { readonly path?: ReadonlyArray<unknown> | undefined; readonly message: string }
) => {
  const path = [
    place,
    ...(issue.path ?? []).map((part) => (typeof part === "number" ? part : requestedName(String(part))))
  ]
  const message = issue.message === "Expected no excess property" ? "is not a known field" : issue.message
  return `${path.join(".")}: ${message}`
}

/**
 * Creates the refusal of a request that does not match its schemas. The refusal lists the path of every invalid field with
 * the expected input, and never contains values. Returns `undefined` if the fault is in the server's response.
 */
export const requestFault = (error: HttpApiError.HttpApiSchemaError): ApiError | undefined => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return undefined
  const place = places[error.kind]
  const faults = [...new Set(formatIssues(error.cause.issue).issues.map((issue) => describe(place, issue)))]
  const shown = faults.slice(0, maxFaults)
  const more = faults.length > shown.length ? ` (and ${faults.length - shown.length} more)` : ""
  return new ApiError({ code: "invalid_request", message: `The request is not valid. ${shown.join("; ")}${more}` })
}
