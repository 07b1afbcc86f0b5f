import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { LinkedIdentity } from "../../../actors/access/account/UpstreamIdentities.ts"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { Redirect, refusalPages } from "../../http-kit/PageAnswer.ts"
import { confirmedPerson, everyone, person } from "../../http-kit/RouteAccess.ts"
import { LinkRequest } from "./SignInApi.ts"

export const Onward = Schema.Struct({ location: Schema.String })
export const IdentityList = Schema.Struct({ identities: Schema.Array(LinkedIdentity) })

/** Sign-in through another provider, from the first redirect to the provider's response. All responses are redirects or pages. */
export class UpstreamPagesApi extends describedGroup(
  "upstreamPages",
  "Signing in at another provider, in a browser."
).add(
  HttpApiEndpoint.get("start", "/auth/upstream/start", {
    query: {
      return: Schema.optionalKey(Schema.String),
      link: Schema.optionalKey(Schema.String),
      confirm: Schema.optionalKey(Schema.String)
    },
    success: Redirect,
    error: refusalPages
  }).annotateMerge(
    describedRoute(
      everyone,
      "Sign in at the provider",
      "For browsers. `return` is a path of this server; `link=true` adds the identity to the signed-in account, `confirm=true` confirms the signed-in person."
    )
  ),
  HttpApiEndpoint.get("callback", "/auth/upstream/callback", {
    query: {
      code: Schema.optionalKey(Schema.String),
      state: Schema.optionalKey(Schema.String),
      iss: Schema.optionalKey(Schema.String),
      error: Schema.optionalKey(Schema.String)
    },
    success: Redirect,
    error: refusalPages
  }).annotateMerge(
    describedRoute(everyone, "Return from the provider", "The redirect address that is registered at the provider.")
  )
) {}

/** A person's identities at the sign-in provider. */
export class UpstreamApi extends describedGroup("upstream", "Identities at the sign-in provider.")
  .add(
    HttpApiEndpoint.post("startInvited", "/auth/upstream/invitation", {
      payload: LinkRequest,
      success: Onward
    }).annotateMerge(
      describedRoute(
        everyone,
        "Accept an invitation with an account of the provider",
        "`secret` is that of the invitation; the page continues at `location`. 501 `capability_not_available` without a provider."
      )
    ),
    HttpApiEndpoint.get("identities", "/auth/upstream/identities", { success: IdentityList }).annotateMerge(
      describedRoute(person, "List linked identities", "Accounts at the provider that sign in to this one.")
    ),
    HttpApiEndpoint.delete("unlink", "/auth/upstream/identities/:identityId", {
      params: { identityId: Schema.String },
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      describedRoute(confirmedPerson, "Unlink an identity", "The last way to sign in cannot be removed (409).")
    )
  )
  .middleware(Envelope) {}
