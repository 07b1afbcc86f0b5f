import type { ApiError } from "../../schema/errors/ApiError.ts"

/** Creates the error envelope for a request that does not reach the application. */
export const plainErrorResponse = (error: ApiError, requestId: string): Response =>
  Response.json(
    { error: { code: error.code, message: error.message, requestId } },
    {
      status: error.status,
      headers: {
        "x-request-id": requestId,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "cache-control": "no-store",
        pragma: "no-cache",
        ...(error.status === 503 ? { "retry-after": "1" } : {})
      }
    }
  )
