import { useEffect, useState } from "react"
import { request } from "../api/Client.ts"

/** The sign-in methods of this server. */
export interface SignInOffer {
  readonly password: boolean
  readonly passkeys: boolean
  readonly provider?: { readonly name: string }
}

/** The page offers a password until the methods are known, and also if they cannot be read. */
const assumed: SignInOffer = { passkeys: true, password: true }

export const useSignInOffer = (): SignInOffer => {
  const [offer, setOffer] = useState(assumed)
  useEffect(() => {
    const gone = new AbortController()
    request<SignInOffer>("GET", "/auth/offer", { signal: gone.signal, keepOn401: true }).then(setOffer, () => undefined)
    return () => gone.abort()
  }, [])
  return offer
}

/** Returns the URL that starts the sign-in with the upstream provider and contains the URL to return to. */
export const upstreamStart = (returnTo: string): string => `/auth/upstream/start?return=${encodeURIComponent(returnTo)}`
