import { useEffect, useState } from "react"
import { request } from "../api/Client.ts"
import type { Discovery } from "../api/Types.ts"

/** How this server lets people in. */
export type SignInOffer = Discovery["auth"]

/** Until it is known, and where it cannot be asked, a password is what the page can take. */
const assumed: SignInOffer = { oidc: false, password: true }

export const useSignInOffer = (): SignInOffer => {
  const [offer, setOffer] = useState(assumed)
  useEffect(() => {
    const gone = new AbortController()
    request<Discovery>("GET", "/api/v1/capabilities", { signal: gone.signal, keepOn401: true }).then(
      ({ auth }) => setOffer(auth),
      () => undefined
    )
    return () => gone.abort()
  }, [])
  return offer
}

/** Where the sign-in with the upstream provider begins, and where it leads back to. */
export const upstreamStart = (returnTo: string): string => `/auth/upstream/start?return=${encodeURIComponent(returnTo)}`
