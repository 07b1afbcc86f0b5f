import { Schema, Struct } from "effect"

/** All error codes with their HTTP status (specification, ruling 1). */
export const errorStatuses = {
  invalid_request: 400,
  state_unreadable: 400,
  state_encrypted: 400,
  backup_unreadable: 400,
  backup_format_unknown: 400,
  idempotency_key_required: 400,
  unauthenticated: 401,
  invalid_token: 401,
  second_factor_required: 401,
  csrf_failed: 403,
  insufficient_scope: 403,
  permission_denied: 403,
  workspace_membership_inactive: 403,
  restore_unconfirmed: 403,
  reauthentication_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  guard_conflict: 409,
  failed_precondition: 409,
  run_conflict: 409,
  state_newer: 409,
  state_lineage_known: 409,
  state_resource_managed: 409,
  backup_key_missing: 409,
  request_too_large: 413,
  unsupported_media_type: 415,
  module_not_found: 422,
  module_unsupported: 422,
  source_ref_ambiguous: 422,
  no_stable_version: 422,
  rate_limited: 429,
  internal_error: 500,
  integrity_fault: 500,
  capability_not_available: 501,
  verification_unavailable: 503,
  storage_full: 503
} as const

export type ErrorCode = keyof typeof errorStatuses
export const ErrorCode = Schema.Literals(Struct.keys(errorStatuses))

/** The body of every error response (specification, Errors). */
export class ErrorEnvelope extends Schema.Opaque<ErrorEnvelope>()(
  Schema.Struct({
    error: Schema.Struct({ code: Schema.String, message: Schema.String, requestId: Schema.String })
  }).annotate({ identifier: "ErrorEnvelope" })
) {}

/**
 * The only expected failure of the API. Services and actors fail with this error, and the HTTP layer converts it to the
 * envelope. `message` explains what happened, what was expected and what to do, and never contains a secret.
 */
export class ApiError extends Schema.TaggedError<ApiError>()("ApiError", {
  code: ErrorCode,
  message: Schema.String,
  /** Time to wait, in seconds. Set only with `rate_limited`. */
  retryAfter: Schema.optionalKey(Schema.Int),
  /** Set by the client, from the response. */
  requestId: Schema.optionalKey(Schema.String)
}) {
  get status(): number {
    return errorStatuses[this.code]
  }
}

/** Creates the error for a record that does not exist or belongs to another Workspace, for example `notFound("Capsule")`. */
export const notFound = (what: string) => new ApiError({ code: "not_found", message: `${what} not found.` })

export const invalidRequest = (message: string) => new ApiError({ code: "invalid_request", message })

export const failedPrecondition = (message: string) => new ApiError({ code: "failed_precondition", message })
