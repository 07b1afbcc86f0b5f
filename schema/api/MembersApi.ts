import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountToken } from "../records/AccountToken.ts"
import { Departure } from "../records/Departure.ts"
import { displayText, GivenTime } from "../records/Primitives.ts"
import { created } from "./AnswerStatus.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofMember = { workspaceId: Schema.String, subject: Schema.String }

/**
 * Membership endpoints beyond the specification: those for automation tokens, and for the work that stops when a member
 * leaves.
 */
export class MembersApi extends HttpApiGroup.make("members")
  .add(
    HttpApiEndpoint.get("departure", "/api/v1/workspaces/:workspaceId/members/:subject/departure", {
      params: ofMember,
      success: Schema.Struct({ departure: Departure })
    })
  )
  .add(
    HttpApiEndpoint.get("tokens", "/api/v1/workspaces/:workspaceId/members/:subject/tokens", {
      params: ofMember,
      query: pageQuery,
      success: Schema.Struct({ tokens: Schema.Array(AccountToken), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("createToken", "/api/v1/workspaces/:workspaceId/members/:subject/tokens", {
      params: ofMember,
      payload: Schema.Struct({
        name: displayText(80),
        scopes: Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))).check(
          Schema.isMinLength(1),
          Schema.isMaxLength(32)
        ),
        expiresAt: GivenTime
      }),
      success: Schema.Struct({ token: Schema.String, tokenRecord: AccountToken }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.post("revokeToken", "/api/v1/workspaces/:workspaceId/members/:subject/tokens/:tokenId/revoke", {
      params: { ...ofMember, tokenId: Schema.String },
      success: Schema.Struct({ tokenRecord: AccountToken })
    })
  )
  .annotateEndpoints(ExtensionFamily, "member-tokens") {}
