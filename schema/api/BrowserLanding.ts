import { Context } from "effect"

/**
 * People come to such an endpoint by a redirect from another site: what that site put into the query beside the known keys is
 * ignored, and a refusal is a page for a client that takes HTML.
 */
export const BrowserLanding = Context.Reference<boolean>("svc/schema/api/BrowserLanding", { defaultValue: () => false })
