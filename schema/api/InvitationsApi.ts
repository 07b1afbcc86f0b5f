import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Invitation, InvitationPreview } from "../records/Invitation.ts"
import { GivenTime } from "../records/Primitives.ts"
import { Role } from "../records/Workspace.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const inWorkspace = { workspaceId: Schema.String }
const secretBody = Schema.Struct({ secret: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024)) })
const record = Schema.Struct({ invitation: Invitation })

export class InvitationsApi extends describedGroup("invitations", "Invitations to a Workspace.")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/invitations", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ invitations: Schema.Array(Invitation), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/invitations"),
        "List invitations, newest first",
        "Ended ones are listed with what became of them. A link is never shown again."
      )
    )
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
        /** Whether a mail is on its way as well; its link also proves the address. */
        mailed: Schema.optionalKey(Schema.Literal(true))
      }).pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/invitations"),
        "Invite somebody",
        "Answers a link that works once and is shown this once: its secret is stored as a digest, and stands in the fragment, which browsers do not send. Without `email` whoever has the link may accept, and `role` is `member` at most; with `email` only an account for which that address was verified may. Where the server sends mails, an invitation with `email` is mailed as well (`mailed`): the link of the mail proves the address, so it creates an account too. The answer is the same whether or not an account has the address. Ends after 7 days, or at `expiresAt` (at most 30 days). An earlier pending invitation of the same address ends."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("revoke", "/api/v1/workspaces/:workspaceId/invitations/:invitationId/revoke", {
      params: { ...inWorkspace, invitationId: Schema.String },
      success: record
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/workspaces/:workspaceId/invitations/:invitationId/revoke"),
        "Withdraw an invitation",
        "Its link stops working at once. One that has ended is answered as it is."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("inspect", "/api/v1/invitations/inspect", {
      payload: secretBody,
      success: Schema.Struct({ invitation: InvitationPreview })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/invitations/inspect"),
        "See what an invitation leads to",
        "Changes nothing. `signUp` says whether an account may be created with the link; otherwise its holder signs in to an existing one. 404 for an unknown, used, withdrawn or expired link."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("accept", "/api/v1/invitations/accept", {
      payload: secretBody,
      success: record
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/invitations/accept"),
        "Accept an invitation",
        "Makes the caller a member with the offered role. What the inviter may grant is checked again: 409 when they may not any more. 403 for an invitation of somebody else, 404 for an unknown, used, withdrawn or expired link, 409 for a member. Repeated by the same person it changes nothing. 20 attempts a minute."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("decline", "/api/v1/invitations/decline", {
      payload: secretBody,
      success: record
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/invitations/decline"),
        "Decline an invitation",
        "Having the link is enough. It stops working at once."
      )
    )
  ) {}
