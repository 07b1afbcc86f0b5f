import { HttpServerResponse } from "effect/http"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { errorResponse } from "../http-kit/ErrorResponse.ts"

const retired: ReadonlySet<string> = new Set(["capsules.replaceProviderBindings", "capsules.updateConfig"])

/** Returns true if a mutation is retired for every record (specification, Projects and Capsules). */
export const isRetired = (endpoint: string): boolean => retired.has(endpoint)

/** Creates a 405 in the envelope, with the methods that the path supports. */
export const methodNotAllowed = (allowed: ReadonlyArray<string>, message: string, requestId: string) =>
  HttpServerResponse.setHeader(
    errorResponse(new ApiError({ code: "method_not_allowed", message }), requestId),
    "allow",
    allowed.join(", ")
  )

export const retiredResponse = (requestId: string) =>
  methodNotAllowed(
    ["GET"],
    "This mutation is retired. Change a Capsule through a configuration plan or a re-adoption.",
    requestId
  )
