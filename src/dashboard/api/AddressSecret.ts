import { forgetLinkSecret, linkSecret } from "./LinkSecret.ts"

const key = "svc.address"
export const addressPath = "/account/address"

/** Returns true if the address contained a secret, which has then been removed from the address bar. */
const takeSecret = (): boolean => {
  const { hash, pathname } = window.location
  if (pathname !== addressPath || hash === "") return false
  linkSecret(key, hash)
  window.history.replaceState(window.history.state, "", pathname)
  return true
}

/**
 * Removes the secret of an address-change link from the address bar and stores it, before any redirect to the sign-in page.
 */
export const takeAddressSecret = (): void => {
  takeSecret()
  // If a second link is opened on the page of the first link, only the fragment of the address changes, so the browser does
  // not reload the page.
  window.addEventListener("hashchange", () => {
    if (takeSecret()) window.location.reload()
  })
}

export const addressSecret = (): string | undefined => linkSecret(key, "")

export const forgetAddressSecret = (): void => forgetLinkSecret(key)
