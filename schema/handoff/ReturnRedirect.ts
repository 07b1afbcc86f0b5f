import { Redacted } from "effect"
import type { HandoffTarget } from "./InstallLink.ts"

/**
 * The payload that a client receives after a successful apply. Without a `hostUrl` the Capsule has no public address.
 * `setupTicket` is a one-time secret for the product's own setup flow.
 */
export interface ReturnPayload {
  readonly hostUrl?: string | undefined
  readonly runId: string
  readonly capsuleId: string
  readonly setupTicket?: Redacted.Redacted<string>
}

/**
 * The address that the browser is sent to after a successful apply. `parseInstallQuery` has accepted the target, so it has no
 * query. The address may carry a ticket, so it is never logged.
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
