import { Context, Schema, SchemaTransformation } from "effect"
import { HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { ApiError, ErrorCode, ErrorEnvelope, errorStatuses } from "../errors/ApiError.ts"
import type { AuditActor } from "../records/AuditEvent.ts"
import type { WorkspaceId } from "../records/Ids.ts"
import type { TokenLimits } from "../records/TokenLimits.ts"
import type { Role } from "../records/Workspace.ts"

const isErrorCode = Schema.is(ErrorCode)

/** Converts an error envelope back to the error it describes. */
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

/** Outermost: gives every response its request id and turns each failure, expected or not, into the error envelope. */
export class Envelope extends HttpApiMiddleware.Service<Envelope>()("svc/schema/api/Envelope", {
  error: errorResponses
}) {}

/** The authenticated caller of a request, and its Workspace and role if the route identifies a Workspace. */
export interface CallerShape {
  readonly subject: string
  readonly credential: "session" | "token" | "oauth" | "host" | "service"
  readonly credentialId: string
  /** A credential bound to one Workspace may not touch another. */
  readonly boundWorkspaceId?: WorkspaceId | undefined
  readonly scopes: ReadonlyArray<string> | "all"
  /** A token may be confined within its Workspace; lists then return only records within its limits. */
  readonly limits?: TokenLimits | undefined
  readonly workspaceId?: WorkspaceId | undefined
  readonly role?: Role | undefined
  readonly actor: AuditActor
  readonly requestId: string
}

export class Caller extends Context.Service<Caller, CallerShape>()("svc/schema/api/Caller") {}

/**
 * Authenticates, then authorises the Workspace, before the query or body is validated (specification, Authentication, rule 4).
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller }>()(
  "svc/schema/api/Authorization",
  {
    error: errorResponses
  }
) {}

/** Innermost: refuses a body that is too large, not JSON, too deep, or contains duplicate keys, before it is decoded. */
export class BodyLimits extends HttpApiMiddleware.Service<BodyLimits>()("svc/schema/api/BodyLimits", {
  error: errorResponses
}) {}
