import { Effect, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Handoffs } from "../../../actors/commands/handoff/Handoffs.ts"
import { SetupTickets } from "../../../actors/commands/handoff/SetupTickets.ts"
import { idOrNull } from "../../../actors/base/Identity.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { authBody } from "../../accounts/AuthBody.ts"
import { commandOf, signedInToChange } from "../../accounts/SignedIn.ts"
import { uncached } from "../../accounts/Uncached.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { currentRequestId } from "../../http-kit/Exchange.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { HandoffApi, RedeemRequest, ReturnRequest } from "./HandoffApi.ts"

const returnBody = authBody(ReturnRequest, "{runId, product, returnUri}")
const redeemBody = authBody(RedeemRequest, "{setup_ticket}")

/** Returns the URL that the signed-in person's browser opens next. Accepts requests only from pages on this origin. */
const complete = Effect.gen(function* () {
  const principal = yield* signedInToChange
  const { baseUrl } = yield* HttpSettings
  const { runId, ...target } = yield* returnBody
  const handoffs = yield* Handoffs
  const context = yield* commandOf(principal)
  const location = yield* handoffs.complete(
    context,
    principal.subject,
    idOrNull(RunId, runId),
    target,
    new URL(baseUrl).origin
  )
  return HttpServerResponse.jsonUnsafe({ location: Redacted.value(location) })
})

/** Redeems a ticket for the product's own setup flow. The ticket is the only credential, and works only once. */
const redeem = Effect.gen(function* () {
  const { remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  const limits = yield* AttemptLimits
  yield* limits.consume("token", { address: Option.getOrUndefined(remoteAddress) })
  const { setup_ticket } = yield* redeemBody
  const tickets = yield* SetupTickets
  const ticket = yield* tickets.redeem(setup_ticket, yield* currentRequestId)
  return HttpServerResponse.jsonUnsafe({
    product: ticket.product,
    workspace_id: ticket.workspaceId,
    capsule_id: ticket.capsuleId,
    run_id: ticket.runId,
    subject: ticket.subject
  })
})

/** Serves the last step of a hand-off: the return address with its ticket, and the redemption of the ticket. */
export const returnRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add(...routeOf(HandoffApi.endpoints.complete), uncached(complete))
    yield* router.add(...routeOf(HandoffApi.endpoints.redeem), uncached(redeem))
  })
)
