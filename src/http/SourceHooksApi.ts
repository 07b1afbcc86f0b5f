import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { accepted } from "../../schema/api/AnswerStatus.ts"
import { describedGroup, describedRoute, type RouteAccess } from "./description/RouteDescription.ts"
import { Envelope } from "../../schema/api/Middleware.ts"

const text = Schema.optionalKey(Schema.String)
const forge: RouteAccess = {
  security: [{ bearer: [] }, {}],
  sentence:
    "**Access:** senders that prove the Source's webhook secret: an HMAC in `X-Hub-Signature-256`, the secret in `X-Gitlab-Token`, or as a bearer."
}

export const HookAnswer = Schema.Struct({ accepted: Schema.Boolean, runIds: Schema.Array(Schema.String) })

/** Webhook deliveries from forges. */
export class SourceHooksApi extends describedGroup("sourceHooks", "Webhooks of forges.")
  .add(
    HttpApiEndpoint.post("deliver", "/hooks/sources/:sourceId", {
      params: { sourceId: Schema.String },
      headers: {
        "x-hub-signature-256": text,
        "x-gitlab-token": text,
        "x-github-event": text,
        "x-github-delivery": text,
        "x-gitea-delivery": text,
        "x-forgejo-delivery": text,
        "x-gitlab-event-uuid": text
      },
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
