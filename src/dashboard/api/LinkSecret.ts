/**
 * The secret of a one-time link, which is in the fragment of the link's address. The tab stores the secret until the link is
 * used, so the secret is still available after a reload or a redirect to the sign-in page. The secret never appears in a
 * query, because servers log queries.
 */
export const linkSecret = (key: string, hash: string): string | undefined => {
  const text = decodeURIComponent(hash.replace(/^#(?:secret=)?/, ""))
  try {
    if (text !== "") sessionStorage.setItem(key, text)
    return text === "" ? (sessionStorage.getItem(key) ?? undefined) : text
  } catch {
    // If the browser has no storage, the person must open the link again.
    return text === "" ? undefined : text
  }
}

export const forgetLinkSecret = (key: string): void => {
  try {
    sessionStorage.removeItem(key)
  } catch {
    // If there is no storage, there is nothing to remove.
  }
}
