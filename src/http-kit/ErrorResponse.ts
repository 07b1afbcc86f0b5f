import { Cause, Effect } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { hasStorageFull, storageFull } from "../../schema/errors/StorageFull.ts"
import { AdmissionLost } from "../../actors/base/Readmission.ts"
import { hasIntegrityFault, integrityFault } from "../../actors/base/vault/IntegrityFault.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { requestFault } from "./SchemaFault.ts"

/**
 * Returns the header that describes why the bearer token was refused (RFC 6750, 3.1). If there was no token, the header only
 * states that a token is required.
 */
const challengeOf = ({ code, status }: ApiError): Readonly<Record<string, string>> => {
  if (code === "invalid_token" || code === "insufficient_scope") {
    return { "www-authenticate": `Bearer realm="svc", error="${code}"` }
  }
  return status === 401 ? { "www-authenticate": 'Bearer realm="svc"' } : {}
}

/** Converts an error to a response with the error envelope. Adds `Retry-After` for `rate_limited`. */
export const errorResponse = (error: ApiError, requestId: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(
    { error: { code: error.code, message: error.message, requestId } },
    {
      status: error.status,
      headers: {
        ...(error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }),
        ...challengeOf(error),
        "cache-control": "no-store"
      }
    }
  )

const internalError = new ApiError({
  code: "internal_error",
  message:
    "The server failed on this request. Nothing about the fault is shown here; the operator finds it in the log under the request id."
})

const expected = (failure: unknown): ApiError | undefined => {
  if (failure instanceof ApiError) return failure
  if (failure instanceof AdmissionLost) return failure.refusal
  if (HttpApiError.HttpApiSchemaError.is(failure)) return requestFault(failure)
  if (HttpServerError.isHttpServerError(failure) && failure.reason._tag === "RequestParseError") {
    return new ApiError({ code: "invalid_request", message: "The body of the request could not be read." })
  }
  return undefined
}

/** Returns the part of a defect that the caller may see. */
const defectOf = (cause: Cause.Cause<unknown>) => {
  if (hasIntegrityFault(cause)) return new ApiError(integrityFault)
  return hasStorageFull(cause) ? new ApiError(storageFull) : internalError
}

/**
 * Creates the response to a failed request. Returns expected failures in the error envelope. Logs unexpected failures in
 * full, and responds with a 500 without details. Passes on an interruption.
 */
export const failureResponse = <E>(
  cause: Cause.Cause<E>,
  requestId: string,
  respond: (error: ApiError, requestId: string) => HttpServerResponse.HttpServerResponse = errorResponse
): Effect.Effect<HttpServerResponse.HttpServerResponse, never> => {
  for (const reason of cause.reasons) {
    const failure = reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined
    if (HttpServerResponse.isHttpServerResponse(failure)) return Effect.succeed(failure)
    const error = expected(failure)
    if (error !== undefined) return Effect.succeed(respond(error, requestId))
  }
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  const error = defectOf(cause)
  const logged =
    error.code === "storage_full"
      ? Effect.logError("A request found no room on the disk")
      : Effect.logError("A request failed unexpectedly", cause)
  return Effect.as(Effect.annotateLogs(logged, { requestId }), respond(error, requestId))
}
