import { Context } from "effect"
import type { OptionalFamily } from "../../schema/api/Extensions.ts"
import type { Discovery } from "../../schema/records/Discovery.ts"

/** The HTTP server's settings of its own deployment; never taken from a request. */
export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    /** Public origin and issuer without a trailing slash, e.g. `https://svc.example.com`. */
    readonly baseUrl: string
    readonly version: string
    readonly displayName: string
    readonly features: Discovery["features"]
    readonly auth: Discovery["auth"]
    readonly oidcClientId?: string | undefined
    /** Endpoint families beyond the specification that are turned off. */
    readonly familiesOff?: ReadonlyArray<OptionalFamily> | undefined
    /** True if the operator declares a helper by which people authorise a Connection at another service. */
    readonly hasOAuthHelpers?: boolean | undefined
    /** Origins whose pages may call the API with a bearer token. */
    readonly corsOrigins?: ReadonlyArray<string> | undefined
  }
>()("svc/src/http-kit/HttpSettings") {}

/** The features of this release that need no declaration by the operator. */
export const implementedFeatures: Discovery["features"] = {
  stacks: true,
  opentofu_runner: true,
  oidc: true,
  workload_identity: false,
  interfaces: true
}

/** Over https the cookie is tied to the host; plain http on loopback cannot use that prefix. */
export const sessionCookieName = (baseUrl: string): string =>
  baseUrl.startsWith("https:") ? "__Host-svc_session" : "svc_session"
