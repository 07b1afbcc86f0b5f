import { Context } from "effect"
import type { OptionalFamily } from "../../schema/api/ExtensionFamily.ts"
import type { Discovery } from "../../schema/records/Discovery.ts"

/** Settings of the HTTP server for this deployment. They are never taken from a request. */
export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    /** Public origin and issuer without a trailing slash, such as `https://svc.example.com`. */
    readonly baseUrl: string
    readonly version: string
    readonly displayName: string
    readonly features: Discovery["features"]
    readonly auth: Discovery["auth"]
    readonly oidcClientId?: string | undefined
    /**
     * Endpoint families that the operator has disabled. Only families that are not part of the specification can be
     * disabled.
     */
    readonly familiesOff?: ReadonlyArray<OptionalFamily> | undefined
    /** True if the operator has declared a helper through which people authorise a Connection at another service. */
    readonly hasOAuthHelpers?: boolean | undefined
    /** Origins whose pages may call the API with a bearer token. */
    readonly corsOrigins?: ReadonlyArray<string> | undefined
  }
>()("svc/src/http-kit/HttpSettings") {}

/** Features of this release that are available without a declaration by the operator. */
export const implementedFeatures: Discovery["features"] = {
  stacks: true,
  opentofu_runner: true,
  oidc: true,
  workload_identity: false,
  interfaces: true
}

/**
 * Returns the name of the session cookie. Over HTTPS, the name has a prefix that ties the cookie to the host. The prefix
 * cannot be used for cookies over plain HTTP on loopback.
 */
export const sessionCookieName = (baseUrl: string): string =>
  baseUrl.startsWith("https:") ? "__Host-svc_session" : "svc_session"
