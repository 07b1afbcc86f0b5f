import { Redacted } from "effect"
import type { HandoffTarget } from "./InstallLink.ts"

/**
 * The data that a client receives after a successful apply. Without `hostUrl`, the Capsule has no public address. `setupTicket`
 * is a one-time secret for the product's setup flow.
 */
export interface ReturnPayload {
  readonly hostUrl?: string | undefined
  readonly runId: string
  readonly capsuleId: string
  readonly setupTicket?: Redacted.Redacted<string>
}

/**
 * Returns the URL to which the browser is redirected after a successful apply. The target has no query, because
 * `parseInstallQuery` has accepted it. Never log the URL, because it may contain a ticket.
 */
export const returnRedirect = (target: HandoffTarget, payload: ReturnPayload): Redacted.Redacted<string> => {
  const fields = new URLSearchParams({
    ...(payload.hostUrl === undefined ? {} : { host_url: payload.hostUrl }),
    product: target.product,
    run_id: payload.runId,
    capsule_id: payload.capsuleId
  })
  if (payload.setupTicket !== undefined) fields.set("setup_ticket", Redacted.value(payload.setupTicket))
  return Redacted.make(`${target.returnUri}?${fields.toString()}`, { label: "return redirect" })
}
