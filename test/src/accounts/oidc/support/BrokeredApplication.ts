import { Context, Effect, Layer } from "effect"
import type { StaticClientDocument } from "../../../../../actors/access/issuer/StaticClientConfig.ts"
import { fetchServer } from "../../../../support/FetchServer.ts"

/** An application whose registered callback belongs to a broker, which redirects to the application's own origin. */
export class BrokeredApplication extends Context.Service<
  BrokeredApplication,
  {
    readonly callback: string
    readonly signedOut: string
    /** The page to which the broker redirects people. */
    readonly home: string
    /** Every `Referer` header received on arrival at either origin. */
    readonly referrers: ReadonlyArray<string>
  }
>()("test/oidc/BrokeredApplication") {
  static readonly layer = Layer.effect(
    BrokeredApplication,
    Effect.gen(function* () {
      const referrers: Array<string> = []
      const noted = (answer: (url: URL) => Response) => (request: Request) => {
        const referrer = request.headers.get("referer")
        // Ignores subresource requests, such as the request for the icon, because their `Referer` is the page itself.
        if (referrer !== null && request.headers.get("sec-fetch-dest") === "document") referrers.push(referrer)
        return answer(new URL(request.url))
      }
      const home = yield* fetchServer(
        noted(({ pathname }) => new Response(`<p>${pathname}</p>`, { headers: { "content-type": "text/html" } }))
      )
      const broker = yield* fetchServer(
        noted(({ pathname, search }) => Response.redirect(`${home}${pathname}${search}`, 302))
      )
      return { callback: `${broker}/cb`, signedOut: `${broker}/bye`, home, referrers }
    })
  )
}

export const brokeredClients = ({
  callback,
  signedOut
}: Pick<BrokeredApplication["Service"], "callback" | "signedOut">): StaticClientDocument => ({
  clients: [
    {
      client_id: "brokered",
      client_name: "Brokered",
      redirect_uris: [callback],
      post_logout_redirect_uris: [signedOut],
      scope: "openid email"
    }
  ]
})
