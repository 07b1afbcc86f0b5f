import { Schema, SchemaTransformation } from "effect"

const longest = 254
const longestLocalPart = 64

// Characters of an unquoted local part (RFC 5322, 3.2.3), and letters and digits of every script (RFC 6531).
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
// Full stops of other scripts count as dots (UTS 46).
const domainCharacters = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u
const hostName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const ignorable = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u

const bytes = (text: string): number => new TextEncoder().encode(text).length

/**
 * Returns the domain in the form that mail servers use: lower case, with punycode for other scripts. Returns `undefined` if it is
 * invalid.
 */
const domainName = (text: string): string | undefined => {
  if (ignorable.test(text) || !domainCharacters.test(text) || !URL.canParse(`http://${text}`)) return undefined
  const name = new URL(`http://${text}`).hostname
  // A name whose last label is numeric is an IP address. `URL` turns even a single number into one.
  return name.length <= 253 && hostName.test(name) && !/(?:^|\.)\d+$/.test(name) ? name : undefined
}

/**
 * Returns the form that earlier releases stored. Lookups also try this form, to find stored addresses that no mail server
 * accepts.
 */
const earlierForm = (text: string): string => text.trim().normalize("NFC").toLowerCase()

const parsed = (given: string): string | undefined => {
  const text = earlierForm(given)
  const at = text.lastIndexOf("@")
  const local = text.slice(0, Math.max(at, 0))
  const domain = domainName(text.slice(at + 1))
  // Rejects compatibility characters (full width, ligatures), which look like other letters.
  if (domain === undefined || ignorable.test(local) || local.normalize("NFKC") !== local) return undefined
  if (!localPart.test(local) || bytes(local) > longestLocalPart) return undefined
  const address = `${local}@${domain}`
  return bytes(address) <= longest ? address : undefined
}

/** Returns a valid address in its stored form, and any other text unchanged. */
export const withStoredSpelling = (text: string): string => parsed(text) ?? text

/**
 * An email address in the only form that is stored, compared and mailed: lower case, NFC, the domain in punycode. Rejects
 * addresses that no mail server accepts: brackets, whitespace, invisible characters, full-width letters before the `@`, and IP
 * addresses.
 */
export const EmailAddress = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter((text) => parsed(text) === text, { expected: "an e-mail address such as ann@example.com" })
    ),
    SchemaTransformation.transform({ decode: withStoredSpelling, encode: (text) => text })
  )
)

/** The domain of an email address, as `EmailAddress` stores it, with at least two labels. */
export const EmailDomain = Schema.String.check(
  Schema.makeFilter((text) => domainName(text) === text && text.includes("."), {
    expected: "a domain in lower case such as example.com, in punycode if it has letters of other scripts"
  })
)

/** Returns the forms under which a typed address may be stored: first the form of earlier releases, then the current form. */
export const addressForms = (text: string): readonly [string, string] => {
  const earlier = earlierForm(text)
  return [earlier, parsed(text) ?? earlier]
}
