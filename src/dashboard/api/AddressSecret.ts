import { forgetLinkSecret, linkSecret } from "./LinkSecret.ts"

const key = "svc.address"
export const addressPath = "/account/address"

/** Returns true if the address contained a secret, which has been removed from the address bar. */
const takeSecret = (): boolean => {
  const { hash, pathname } = window.location
  if (pathname !== addressPath || hash === "") return false
  linkSecret(key, hash)
  window.history.replaceState(window.history.state, "", pathname)
  return true
}

/** The secret of an address-change link, removed from the address bar before any redirect to sign-in. */
export const takeAddressSecret = (): void => {
  takeSecret()
  // A second link opened on the first link's page differs only in its fragment, so no browser reloads the page.
  window.addEventListener("hashchange", () => {
    if (takeSecret()) window.location.reload()
  })
}

export const addressSecret = (): string | undefined => linkSecret(key, "")

export const forgetAddressSecret = (): void => forgetLinkSecret(key)
