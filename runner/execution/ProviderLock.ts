/** A provider in a dependency lock. `address` is `host/namespace/type`. */
export interface LockedProvider {
  readonly address: string
  readonly version: string
  /** Hashes of unpacked packages (`h1:` followed by base64), one or more per platform. */
  readonly hashes: ReadonlyArray<string>
}

const block = /^provider "([^"\n]+)" \{\n((?: .*\n)*)\}\n/gm
const address = /^[A-Za-z0-9][A-Za-z0-9.-]*\/[A-Za-z0-9][A-Za-z0-9_-]*\/[A-Za-z0-9][A-Za-z0-9_-]*$/
const version = /^ +version += "(\d[0-9A-Za-z.+-]*)"$/m
const packageHash = /^ +"(h1:[0-9A-Za-z+/=]+)",$/gm
const comment = /^(?:#.*)?\n/gm

/**
 * Returns the providers in a lock, or `undefined` unless the text is exactly what the tool writes and every provider has a hash
 * of its unpacked package. The tool verifies that hash before it starts a provider.
 */
export const lockedProviders = (lockText: string): ReadonlyArray<LockedProvider> | undefined => {
  const found: Array<LockedProvider | undefined> = []
  const rest = lockText.replaceAll("\r\n", "\n").replace(block, (_, name: string, body: string) => {
    const ownVersion = version.exec(body)?.[1]
    const hashes = Array.from(body.matchAll(packageHash), ([, hash = ""]) => hash)
    const isWhole = address.test(name) && ownVersion !== undefined && hashes.length > 0
    found.push(isWhole ? { address: name, version: ownVersion, hashes } : undefined)
    return ""
  })
  if (rest.replace(comment, "") !== "") return undefined
  const whole = found.filter((provider) => provider !== undefined)
  return whole.length === found.length && whole.length > 0 ? whole : undefined
}
