import { Context } from "effect"

/**
 * Set for an endpoint to which other sites redirect browsers. It ignores unknown query keys, which the other site may have added,
 * and returns an error page to clients that accept HTML.
 */
export const BrowserLanding = Context.Reference<boolean>("svc/schema/api/BrowserLanding", { defaultValue: () => false })
