import type { Headers } from "effect/http"
import type { HookProofs } from "../../actors/ledger/source/WebhookSignature.ts"

/** Headers with which forges and compatible senders authenticate and describe a delivery. */
export const deliveryHeaders = [
  "x-hub-signature-256",
  "x-hub-signature",
  "x-gitea-signature",
  "x-forgejo-signature",
  "x-gogs-signature",
  "x-gitlab-token",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
  "x-github-event",
  "x-gitea-event",
  "x-forgejo-event",
  "x-gogs-event",
  "x-event-key",
  "x-github-delivery",
  "x-gitea-delivery",
  "x-forgejo-delivery",
  "x-gogs-delivery",
  "idempotency-key",
  "x-request-uuid",
  "x-request-id"
] as const
type DeliveryHeader = (typeof deliveryHeaders)[number]

const bearerPattern = /^bearer ([A-Za-z0-9._~+/-]{1,512}={0,2})$/i
const basicPattern = /^basic ([A-Za-z0-9+/]{1,1024}={0,2})$/i

/** Returns the secret in an `Authorization` header: a bearer token, or a password with any user name. */
const authorizationSecret = (value: string): string | undefined => {
  const credentials = basicPattern.exec(value)?.[1]
  if (credentials === undefined) return bearerPattern.exec(value)?.[1]
  const text = Buffer.from(credentials, "base64").toString()
  const colon = text.indexOf(":")
  return colon === -1 ? undefined : text.slice(colon + 1)
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== ""

export interface Delivery {
  readonly proofs: HookProofs
  readonly deliveryId: string | undefined
  readonly isPing: boolean
}

/** Reads the headers of a delivery from any forge. */
export const deliveryOf = (headers: Headers.Headers): Delivery => {
  const of = (name: DeliveryHeader) => headers[name]
  const standardSignatures = of("webhook-signature")
  const eventKey = of("x-event-key")
  // Ignore empty signatures, because forges send them if no secret is configured and they prove nothing. Ignore SHA-1
  // signatures as well, because GitHub, Gitea and Forgejo send them together with SHA-256 signatures.
  const signatures = [
    of("x-hub-signature-256"),
    of("x-hub-signature")?.startsWith("sha1=") === true ? undefined : of("x-hub-signature"),
    ...([of("x-gitea-signature"), of("x-forgejo-signature"), of("x-gogs-signature")] as const).map((hex) =>
      isSet(hex) ? `sha256=${hex}` : undefined
    )
  ]
  return {
    proofs: {
      signatures: signatures.filter(isSet).filter((value) => value !== "sha256="),
      secrets: [of("x-gitlab-token"), authorizationSecret(headers["authorization"] ?? "")].filter(isSet),
      standard: isSet(standardSignatures)
        ? { id: of("webhook-id") ?? "", timestamp: of("webhook-timestamp") ?? "", signatures: standardSignatures }
        : undefined
    },
    // Do not use GitLab's `X-Gitlab-Event-UUID`: events that trigger each other have the same value, so it does not identify
    // a delivery.
    deliveryId: [
      of("x-github-delivery"),
      of("x-gitea-delivery"),
      of("x-forgejo-delivery"),
      of("x-gogs-delivery"),
      of("webhook-id"),
      of("idempotency-key"),
      of("x-request-uuid"),
      // Use this header only if there is an event key, as in deliveries from Bitbucket Data Center, because proxies set this
      // header as well.
      eventKey === undefined ? undefined : of("x-request-id")
    ].find(isSet),
    isPing:
      eventKey?.toLowerCase() === "diagnostics:ping" ||
      (["x-github-event", "x-gitea-event", "x-forgejo-event", "x-gogs-event"] as const).some(
        (name) => of(name)?.toLowerCase() === "ping"
      )
  }
}
