/** Returns true if passkeys are possible, which requires a host name and a secure connection. */
export const passkeysPossible = (hostname: string): boolean =>
  "PublicKeyCredential" in globalThis &&
  globalThis.isSecureContext &&
  !/^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\])$/.test(hostname)
