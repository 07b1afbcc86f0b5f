import { Context } from "effect"

/**
 * Browsers reach such an endpoint through a redirect from another site. Unknown query keys that the site has added are ignored,
 * and clients that accept HTML receive a refusal as a page.
 */
export const BrowserLanding = Context.Reference<boolean>("svc/schema/api/BrowserLanding", { defaultValue: () => false })
