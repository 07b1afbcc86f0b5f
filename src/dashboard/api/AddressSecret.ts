import { forgetLinkSecret, linkSecret } from "./LinkSecret.ts"

const key = "svc.address"
export const addressPath = "/account/address"

/** The secret of the link to another address, out of the address bar before anything can send the person to sign in. */
export const takeAddressSecret = (): void => {
  const { hash, pathname } = window.location
  if (pathname !== addressPath || hash === "") return
  linkSecret(key, hash)
  window.history.replaceState(window.history.state, "", pathname)
}

export const addressSecret = (): string | undefined => linkSecret(key, "")

export const forgetAddressSecret = (): void => forgetLinkSecret(key)
