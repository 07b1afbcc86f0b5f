const maxPathLength = 2048

/** A path of our own, or the start page: where a sign-in leads must not be anybody else's to say. */
export const ownPath = (text: string | undefined, baseUrl: string): string => {
  if (text === undefined || text.length > maxPathLength || !text.startsWith("/")) return "/"
  const { origin } = new URL(baseUrl)
  const url = URL.canParse(text, origin) ? new URL(text, origin) : undefined
  return url === undefined || url.origin !== origin ? "/" : `${url.pathname}${url.search}${url.hash}`
}
