/** Passkeys belong to a host name: an IP address cannot have any, and neither can a page without a secure connection. */
export const passkeysPossible = (hostname: string): boolean =>
  "PublicKeyCredential" in globalThis &&
  globalThis.isSecureContext &&
  !/^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\])$/.test(hostname)
