import { Result, Schema, SchemaTransformation } from "effect"
import { formatServerAddress, isAddress, readServerAddress, type ServerAddress } from "../git/ServerAddress.ts"

const expected =
  "an origin with an optional path prefix, such as https://git.example.com or https://git.example.com/team/, without user name, query, fragment or wildcard"

const decodes = (segment: string) =>
  Result.isSuccess(Result.try({ try: () => decodeURIComponent(segment), catch: () => undefined }))

/**
 * Returns true if a matching prefix proves nothing about a path with this segment: some servers remove path parameters
 * before they resolve dot segments (`/team/..;/other`), and some accept overlong UTF-8.
 */
const isAmbiguous = (segment: string) => segment.includes(";") || segment.includes("*") || !decodes(segment)

const canonical = (address: ServerAddress): string =>
  address.segments.length === 0 ? address.origin : `${formatServerAddress(address)}/`

const normalised = (text: string): string | undefined => {
  const address = readServerAddress(text)
  return isAddress(address) && !address.segments.some(isAmbiguous) ? canonical(address) : undefined
}

/**
 * A permitted destination of a Git Connection: an exact origin, optionally with a path prefix that ends with a slash. Each
 * destination has exactly one spelling.
 */
export const CredentialOrigin = Schema.String.check(
  Schema.makeFilter((text: string) => normalised(text) === text, { description: expected, expected })
).pipe(Schema.brand("CredentialOrigin"))
export type CredentialOrigin = typeof CredentialOrigin.Type

/** An origin as a person enters it, normalised like the URL of a Source. */
export const GivenCredentialOrigin = Schema.String.pipe(
  Schema.decodeTo(
    CredentialOrigin,
    SchemaTransformation.transform<string, string>({
      decode: (text) => normalised(text) ?? text,
      encode: (text) => text
    })
  )
)

export const maxCredentialOrigins = 32

const covers = (origin: ServerAddress, address: ServerAddress): boolean =>
  origin.origin === address.origin &&
  origin.segments.every((segment, index) => segment === address.segments[index]) &&
  (origin.segments.length === 0 || !address.segments.some(isAmbiguous))

/** Returns true if one of the origins contains the address. Path prefixes match whole segments. */
export const isWithinOrigins = (origins: ReadonlyArray<CredentialOrigin>, address: string): boolean => {
  const read = readServerAddress(address)
  if (!isAddress(read)) return false
  return origins.some((origin) => {
    const allowed = readServerAddress(origin)
    return isAddress(allowed) && covers(allowed, read)
  })
}
