const maxUriCharacters = 2048

/** Matches `scheme://rest`, with characters that RFC 3986 allows outside query and fragment. */
const authorityForm = /^([a-z][a-z0-9+.-]{1,62}):\/\/([A-Za-z0-9._~!$&'()*+,;=:@%[\]/-]{1,2048})$/
const encodedControl = /%(?:[01][0-9A-Fa-f]|7[Ff])/
const brokenEncoding = /%(?![0-9A-Fa-f]{2})/

/**
 * Schemes that cannot belong to an app: browsers execute them, open them locally or treat them specially, so the client would not
 * receive the result.
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
 * Returns true if a client may receive its result at `uri`. The URI must be absolute with an authority, without user information,
 * query or fragment. It must be a canonical `https:` URI on an origin other than the service's, or use an app's own scheme.
 * Checks the string as written, because URL parsers repair much of what must be rejected.
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
