const maxUriCharacters = 2048

/** `scheme://rest`, using the characters that RFC 3986 allows outside a query and a fragment. */
const authorityForm = /^([a-z][a-z0-9+.-]{1,62}):\/\/([A-Za-z0-9._~!$&'()*+,;=:@%[\]/-]{1,2048})$/
const encodedControl = /%(?:[01][0-9A-Fa-f]|7[Ff])/
const brokenEncoding = /%(?![0-9A-Fa-f]{2})/

/**
 * Schemes that no app can own: those that browsers execute or open locally, and those with a special meaning that would send
 * the payload somewhere other than to the client.
 */
const foreignSchemes = new Set(
  [
    "javascript data vbscript file blob about filesystem view-source",
    "chrome chrome-extension moz-extension safari-extension safari-web-extension edge resource jar",
    "intent android-app ms-appinstaller ms-settings search-ms x-apple-helpbasic shell",
    "http ws wss ftp ftps sftp ssh git svn mailto tel sms urn ldap ldaps gopher irc ircs news nntp telnet vnc smb"
  ].flatMap((line) => line.split(" "))
)

/**
 * True if a client may receive its payload at `uri`: an absolute URI in authority form with no user information, query or
 * fragment, either `https:` in its canonical spelling on a different origin from the service's, or a scheme owned by an app. The
 * string is checked as written, because URL parsers repair much of what must be refused.
 */
export const isReturnUri = (uri: string, serviceOrigin?: string): boolean => {
  if (uri.length > maxUriCharacters || encodedControl.test(uri) || brokenEncoding.test(uri)) return false
  const match = authorityForm.exec(uri)
  const scheme = match?.[1] ?? ""
  const authority = (match?.[2] ?? "").split("/", 1)[0] ?? ""
  if (match === null || foreignSchemes.has(scheme) || authority.includes("@")) return false
  const url = URL.parse(uri)
  if (url === null || url.username !== "" || url.password !== "") return false
  if (scheme !== "https") return true
  const canonical = url.href === uri || url.href === `${uri}/`
  return canonical && url.hostname !== "" && url.origin !== serviceOrigin
}
