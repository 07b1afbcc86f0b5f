const maxPathLength = 2048

/**
 * Returns the path if it is on this origin, and the start page otherwise. This prevents a sign-in from redirecting to another
 * site.
 */
export const sameOriginPath = (text: string | undefined, baseUrl: string): string => {
  if (text === undefined || text.length > maxPathLength || !text.startsWith("/")) return "/"
  const { origin } = new URL(baseUrl)
  const url = URL.canParse(text, origin) ? new URL(text, origin) : undefined
  if (url === undefined || url.origin !== origin) return "/"
  // Refuse paths such as "/.//evil.example". It resolves to a path on this origin that a browser would mistake for another host.
  return url.pathname.startsWith("//") ? "/" : `${url.pathname}${url.search}${url.hash}`
}
