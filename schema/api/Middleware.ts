import { Context, Schema, SchemaTransformation } from "effect"
import { HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { ApiError, ErrorCode, ErrorEnvelope, errorStatuses } from "../errors/ApiError.ts"
import type { AuditActor } from "../records/AuditEvent.ts"
import type { WorkspaceId } from "../records/Ids.ts"
import type { TokenLimits } from "../records/TokenLimits.ts"
import type { Role } from "../records/Workspace.ts"

const isErrorCode = Schema.is(ErrorCode)

/** Decodes an error envelope to the error that it describes. */
export const RefusalEnvelope = ErrorEnvelope.pipe(
  Schema.decodeTo(
    Schema.toType(ApiError),
    SchemaTransformation.transform({
      decode: ({ error }) =>
        new ApiError({
          code: isErrorCode(error.code) ? error.code : "internal_error",
          message: error.message,
          requestId: error.requestId
        }),
      encode: (error) => ({ error: { code: error.code, message: error.message, requestId: error.requestId ?? "" } })
    })
  )
)

const errorResponses = [...new Set(Object.values(errorStatuses))]
  .sort((a, b) => a - b)
  .map((status) => RefusalEnvelope.pipe(HttpApiSchema.status(status)))

/** The outermost middleware. Gives every response a request id, and converts every failure to an error envelope. */
export class Envelope extends HttpApiMiddleware.Service<Envelope>()("svc/schema/api/Envelope", {
  error: errorResponses
}) {}

/** The authenticated caller. If the request is for a Workspace, it includes the Workspace and the caller's role there. */
export interface CallerShape {
  readonly subject: string
  readonly credential: "session" | "token" | "oauth" | "host" | "service"
  readonly credentialId: string
  /** The grant of an OAuth token. */
  readonly grantId?: string | undefined
  /** The only Workspace that the caller's credential may use. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  readonly scopes: ReadonlyArray<string> | "all"
  /** The limits of the caller's token in its Workspace. Lists return only records within them. */
  readonly limits?: TokenLimits | undefined
  readonly workspaceId?: WorkspaceId | undefined
  readonly role?: Role | undefined
  readonly actor: AuditActor
  readonly requestId: string
}

export class Caller extends Context.Service<Caller, CallerShape>()("svc/schema/api/Caller") {}

/**
 * Authenticates the caller and then authorises the Workspace, before the query or body is validated (specification,
 * Authentication, rule 4).
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller }>()(
  "svc/schema/api/Authorization",
  {
    error: errorResponses
  }
) {}

/**
 * The innermost middleware. Before decoding, rejects a body that is too large or too deep, is not JSON, or has duplicate
 * keys.
 */
export class BodyLimits extends HttpApiMiddleware.Service<BodyLimits>()("svc/schema/api/BodyLimits", {
  error: errorResponses
}) {}
