import { Context } from "effect"

/**
 * Another site redirects browsers to such an endpoint. Unknown query keys that the site has added are ignored, and clients that
 * accept HTML receive a refusal as a page.
 */
export const BrowserLanding = Context.Reference<boolean>("svc/schema/api/BrowserLanding", { defaultValue: () => false })
