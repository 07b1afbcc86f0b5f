import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { person } from "../../http-kit/RouteAccess.ts"

export const GrantList = Schema.Struct({
  grants: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      clientId: Schema.String,
      clientName: Schema.String,
      workspaceId: Schema.optionalKey(Schema.String),
      scopes: Schema.Array(Schema.String),
      offline: Schema.Boolean,
      createdAt: Schema.String
    })
  )
})

/** The applications that act on a person's behalf. */
export class GrantsApi extends describedGroup("grants", "Applications that act for a person.")
  .add(
    HttpApiEndpoint.get("list", "/auth/grants", { success: GrantList }).annotateMerge(
      describedRoute(person, "List applications with access", "The permissions of each application, and its Workspace.")
    ),
    HttpApiEndpoint.post("revoke", "/auth/grants/:grantId/revoke", {
      params: { grantId: Schema.String },
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "End the access of an application", "Its tokens end at once."))
  )
  .middleware(Envelope) {}
