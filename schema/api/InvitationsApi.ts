import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Invitation, InvitationPreview } from "../records/Invitation.ts"
import { GivenTime } from "../records/Primitives.ts"
import { Role } from "../records/Workspace.ts"
import { created } from "./AnswerStatus.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const inWorkspace = { workspaceId: Schema.String }
const secretBody = Schema.Struct({ secret: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024)) })
const record = Schema.Struct({ invitation: Invitation })

export class InvitationsApi extends HttpApiGroup.make("invitations")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/invitations", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ invitations: Schema.Array(Invitation), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/invitations", {
      params: inWorkspace,
      payload: Schema.Struct({
        email: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(254))),
        role: Role,
        expiresAt: Schema.optionalKey(GivenTime)
      }),
      success: Schema.Struct({
        invitation: Invitation,
        link: Schema.String,
        /** Set if the server also mailed a link. Using the mailed link proves that the person owns the address. */
        mailed: Schema.optionalKey(Schema.Literal(true))
      }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("revoke", "/api/v1/workspaces/:workspaceId/invitations/:invitationId/revoke", {
      params: { ...inWorkspace, invitationId: Schema.String },
      success: record
    })
  )
  .add(
    HttpApiEndpoint.post("inspect", "/api/v1/invitations/inspect", {
      payload: secretBody,
      success: Schema.Struct({ invitation: InvitationPreview })
    })
  )
  .add(
    HttpApiEndpoint.post("accept", "/api/v1/invitations/accept", {
      payload: secretBody,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.post("decline", "/api/v1/invitations/decline", {
      payload: secretBody,
      success: record
    })
  )
  .annotateEndpoints(ExtensionFamily, "invitations") {}
