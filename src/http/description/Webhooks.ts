import { noticeComponents, noticeExample, noticeKinds, noticeSchema } from "../../../schema/records/Notice.ts"
import type { JsonObject } from "../../http-kit/description/DocumentSchemas.ts"

/** The schemas of all kinds of notices, as components of the OpenAPI document. */
export const noticeSchemas = noticeComponents.map(({ type }) => noticeSchema(type))

const header = (name: string, description: string) => ({
  name,
  in: "header",
  description,
  required: true,
  schema: { type: "string" }
})

const headers = [
  header("webhook-id", "The id of the notice: the same for every attempt, so that a receiver recognises a repetition."),
  header("webhook-timestamp", "The time of this attempt, in seconds since 1970. Refuse a time that is minutes away."),
  header(
    "webhook-signature",
    "`v1,` and the Base64 of the HMAC-SHA256 of `id.timestamp.body`; two, with a space between, while the secret is rotated."
  )
]

const operation = ({ identifier, type }: (typeof noticeComponents)[number]) => ({
  summary: noticeKinds[type].summary,
  operationId: `webhooks.${type}`,
  tags: ["notices"],
  description:
    "Sent to notice endpoints of the format `json`. At least once, in order for each subject unless a notice waits for a retry for more than five minutes. Any 2xx within 15 seconds accepts it; redirects are not followed; 410 ends the endpoint; `Retry-After` delays the next attempt. Ignore kinds and members that you do not know.",
  parameters: headers,
  requestBody: {
    required: true,
    content: {
      "application/json": { schema: { $ref: `#/components/schemas/${identifier}` }, example: noticeExample(type) }
    }
  },
  responses: { "2XX": { description: "The notice is accepted." } }
})

/** Documents the requests that the server sends to notice endpoints, one for each kind of notice. */
export const withWebhooks = (document: JsonObject): JsonObject => ({
  ...document,
  webhooks: Object.fromEntries(noticeComponents.map((component) => [component.type, { post: operation(component) }]))
})
