import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { accepted } from "../../schema/api/AnswerStatus.ts"
import { deliveryHeaders } from "./DeliveryHeaders.ts"
import { describedGroup, describedRoute, type RouteAccess } from "../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../schema/api/Middleware.ts"

const forge: RouteAccess = {
  security: [{ bearer: [] }, {}],
  sentence:
    "**Access:** senders that prove the Source's webhook secret: an HMAC-SHA256 of the body in `X-Hub-Signature-256`, `X-Hub-Signature` or the signature header of Gitea, Forgejo or Gogs; a signature by the Standard Webhooks specification in `webhook-signature`; or the secret in `X-Gitlab-Token`, as a bearer or as the password of HTTP Basic. One proof is needed, and every proof in the request must be right."
}

export const HookAnswer = Schema.Struct({ accepted: Schema.Boolean, runIds: Schema.Array(Schema.String) })

/** Webhook deliveries from forges. */
export class SourceHooksApi extends describedGroup("sourceHooks", "Webhooks of forges.")
  .add(
    HttpApiEndpoint.post("deliver", "/hooks/sources/:sourceId", {
      params: { sourceId: Schema.String },
      headers: Object.fromEntries(deliveryHeaders.map((name) => [name, Schema.optionalKey(Schema.String)])),
      payload: Schema.Json,
      success: [HookAnswer.pipe(accepted), HookAnswer]
    }).annotateMerge(
      describedRoute(
        forge,
        "Deliver a webhook",
        "Asks for a check of the repository; the payload is not interpreted. A ping is answered 200 and starts nothing. A delivery id that was seen within 24 hours starts nothing again. A payload may have 25 MiB. Eight deliveries to a Source may arrive at once; beyond that the answer is 503 with `Retry-After`."
      )
    )
  )
  .middleware(Envelope) {}
