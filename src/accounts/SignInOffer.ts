import { isIP } from "node:net"
import { Effect } from "effect"
import type { OfferedSignInMethods } from "../../actors/access/account/SignInMethods.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { UpstreamProvider } from "./upstream/UpstreamProvider.ts"

/** Returns true if the host is a name and not an IP address, as passkeys require. */
export const isNamedHost = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, "")) === 0

/** Lists the sign-in methods of this server. */
export const offeredSignInMethods = Effect.gen(function* () {
  const { auth, baseUrl } = yield* HttpSettings
  const { issuer } = yield* UpstreamProvider
  return {
    password: auth.password,
    passkeys: isNamedHost(new URL(baseUrl).hostname),
    upstreamIssuer: issuer
  } satisfies OfferedSignInMethods
})
