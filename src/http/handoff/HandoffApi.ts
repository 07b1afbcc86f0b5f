import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { describedGroup, describedRoute, type RouteAccess } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { installPath } from "../../../schema/handoff/InstallLink.ts"
import { SecretText } from "../../accounts/AuthBody.ts"
import { Redirect, refusalPages } from "../../http-kit/PageAnswer.ts"
import { everyone, person } from "../../http-kit/RouteAccess.ts"

const text = Schema.optionalKey(Schema.String)

const ticket: RouteAccess = { security: [], sentence: "**Access:** holders of the ticket, which works once." }

export const ReturnRequest = Schema.Struct({
  runId: Schema.String.check(Schema.isMaxLength(80)),
  product: Schema.String.check(Schema.isMaxLength(64)),
  returnUri: Schema.String.check(Schema.isMaxLength(4096))
})
export const ReturnAnswer = Schema.Struct({ location: Schema.String })
export const RedeemRequest = Schema.Struct({ setup_ticket: SecretText })
export const RedeemAnswer = Schema.Struct({
  product: Schema.String,
  workspace_id: Schema.String,
  capsule_id: Schema.String,
  run_id: Schema.String,
  subject: Schema.String
})

/** Endpoint that receives an install link from another product. */
export class InstallLinkApi extends describedGroup("installLink", "Install links.").add(
  HttpApiEndpoint.get("install", installPath, {
    query: {
      git: text,
      source: text,
      ref: text,
      sourcePath: text,
      path: text,
      name: text,
      kind: text,
      product: text,
      return_uri: text
    },
    success: Redirect,
    error: refusalPages
  }).annotateMerge(
    describedRoute(
      everyone,
      "Open an install link",
      "A valid link redirects to the creation flow under its canonical address. If any part of a link is invalid, the response is a page with the reason. The route creates nothing."
    )
  )
) {}

/** The last step of a hand-off. */
export class HandoffApi extends describedGroup("handoff", "The end of a hand-off.")
  .add(
    HttpApiEndpoint.post("complete", "/install/return", {
      payload: ReturnRequest,
      success: ReturnAnswer
    }).annotateMerge(
      describedRoute(person, "Return to the product that sent the person", "The browser continues at `location`.")
    ),
    HttpApiEndpoint.post("redeem", "/install/setup-tickets/redeem", {
      payload: RedeemRequest,
      success: RedeemAnswer
    }).annotateMerge(
      describedRoute(ticket, "Redeem a setup ticket", "For the product's own setup: which Capsule and Run it is about.")
    )
  )
  .middleware(Envelope) {}
