import { Effect, Layer } from "effect"
import { oidcRoutes } from "../../../../../src/accounts/oidc/OidcRoutes.ts"
import { oidcServices } from "../../../../../src/accounts/oidc/OidcServices.ts"
import type { StaticClientDocument } from "../../../../../actors/access/issuer/StaticClientConfig.ts"
import { testAccounts } from "../../../../support/Accounts.ts"
import { fetchServer } from "../../../../support/FetchServer.ts"
import { clientDocument, issuerSettings, mounted, TestIssuer } from "./IssuerFixture.ts"
import { testTime } from "./TestTime.ts"

/** Serves the issuer on a free loopback port, for clients with their own HTTP stack. */
export const servedIssuerOf = (document: (issuer: string) => StaticClientDocument) =>
  Layer.unwrap(
    Effect.gen(function* () {
      let handle: (request: Request) => Promise<Response> = () => Promise.resolve(new Response(null, { status: 503 }))
      const issuer = yield* fetchServer((request) => handle(request))
      const connected = Layer.effectDiscard(
        Effect.map(TestIssuer, (application) => {
          handle = (request) => application.handle(request)
        })
      )
      return connected.pipe(
        Layer.provideMerge(mounted(issuer, oidcRoutes)),
        Layer.provideMerge(oidcServices),
        Layer.provideMerge(issuerSettings(issuer, document(issuer))),
        Layer.provideMerge(testAccounts),
        Layer.provideMerge(testTime)
      )
    })
  )

/** The served issuer with the clients used by all suites. */
export const servedIssuer = servedIssuerOf(clientDocument)
