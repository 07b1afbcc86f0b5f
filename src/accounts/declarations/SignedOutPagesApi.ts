import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Page, Redirect, Unchanged, refusalPages, refusalsOfPage } from "../../http-kit/PageAnswer.ts"
import { everyone, ownPage } from "../../http-kit/RouteAccess.ts"
import { SetupRequest, SignInRequest } from "./SignInApi.ts"

export const SignInForm = Schema.Struct(SignInRequest.fields)
export const SetupForm = Schema.Struct(SetupRequest.fields)

const asForm = HttpApiSchema.asFormUrlEncoded()

/**
 * Pages for people who have not signed in, and the handlers for their forms when submitted by a browser without JavaScript.
 */
export class SignedOutPagesApi extends describedGroup("signedOutPages", "The pages before a sign-in.").add(
  HttpApiEndpoint.get("signInPage", "/sign-in", {
    query: { return: Schema.optionalKey(Schema.String) },
    success: [Page, Unchanged],
    error: refusalsOfPage
  }).annotateMerge(describedRoute(everyone, "The sign-in page", "`return` is the path to continue at.")),
  HttpApiEndpoint.post("signIn", "/sign-in", {
    payload: SignInForm.pipe(asForm),
    success: [Redirect, Page],
    error: refusalPages
  }).annotateMerge(describedRoute(ownPage, "Sign in by the form of the page", "For browsers without scripts.")),
  HttpApiEndpoint.get("setupPage", "/setup", { success: [Page, Unchanged], error: refusalsOfPage }).annotateMerge(
    describedRoute(everyone, "The setup page", "The secret of the link is in its fragment and is never sent.")
  ),
  HttpApiEndpoint.post("setup", "/setup", {
    payload: SetupForm.pipe(asForm),
    success: Redirect,
    error: refusalPages
  }).annotateMerge(
    describedRoute(ownPage, "Redeem a setup link by the form of the page", "For browsers without scripts.")
  )
) {}
