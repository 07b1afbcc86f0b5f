import { Context } from "effect"

/**
 * Browsers reach such an endpoint by a redirect from another site. Unknown query keys that the site added are ignored, and a
 * refusal is a page for a client that accepts HTML.
 */
export const BrowserLanding = Context.Reference<boolean>("svc/schema/api/BrowserLanding", { defaultValue: () => false })
