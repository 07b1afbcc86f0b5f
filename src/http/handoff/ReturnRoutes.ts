import { Effect, Option, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Sessions } from "../../../actors/account/Sessions.ts"
import { Handoffs } from "../../../actors/handoff/Handoffs.ts"
import { SetupTickets } from "../../../actors/handoff/SetupTickets.ts"
import { idOrNull } from "../../../actors/Identity.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { authBody, SecretText } from "../../accounts/AuthBody.ts"
import { commandOf, signedInToChange } from "../../accounts/SignedIn.ts"
import { uncached } from "../../accounts/Uncached.ts"
import { currentRequestId } from "../Exchange.ts"
import { HttpSettings } from "../HttpSettings.ts"

const returnBody = authBody(
  Schema.Struct({
    runId: Schema.String.check(Schema.isMaxLength(80)),
    product: Schema.String.check(Schema.isMaxLength(64)),
    returnUri: Schema.String.check(Schema.isMaxLength(4096))
  }),
  "{runId, product, returnUri}"
)
const redeemBody = authBody(Schema.Struct({ setup_ticket: SecretText }), "{setup_ticket}")

/** Where the signed-in person's browser continues. Only pages of this origin may ask. */
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

/** Called by the product's own setup flow. The ticket is the only proof, and works once. */
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

/** The routes of the hand-off, as method and path, to distinguish a wrong method from an unknown path. */
export const handoffRouteTable = [
  ["GET", "/install"],
  ["POST", "/install/return"],
  ["POST", "/install/setup-tickets/redeem"]
] as const

/** The end of a hand-off: the return address with its ticket, and the redemption of the ticket. */
export const returnRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const provided = uncached(
      yield* Effect.context<AttemptLimits | Handoffs | HttpSettings | Sessions | SetupTickets>()
    )
    yield* router.add("POST", "/install/return", provided(complete))
    yield* router.add("POST", "/install/setup-tickets/redeem", provided(redeem))
  })
)
