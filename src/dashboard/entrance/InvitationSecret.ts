/** Survives the way to the sign-in page and back, which a fragment does not: it must not get into a query, which servers log. */
const key = "svc.invitation"

/** The fragment is the secret; the tab remembers it until the invitation is answered. */
export const invitationSecret = (hash: string): string | undefined => {
  const text = decodeURIComponent(hash.replace(/^#/, ""))
  try {
    if (text !== "") sessionStorage.setItem(key, text)
    return text === "" ? (sessionStorage.getItem(key) ?? undefined) : text
  } catch {
    // Without storage the link has to be opened again after the sign-in.
    return text === "" ? undefined : text
  }
}

export const forgetInvitation = (): void => {
  try {
    sessionStorage.removeItem(key)
  } catch {
    // Nothing was remembered.
  }
}
