import { Context } from "effect"

/**
 * Set for an endpoint that other sites redirect browsers to. It ignores unknown query keys, which the other site may have added,
 * and returns an error page to clients that accept HTML.
 */
export const BrowserLanding = Context.Reference<boolean>("svc/schema/api/BrowserLanding", { defaultValue: () => false })
