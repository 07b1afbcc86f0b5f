import { Schema, SchemaTransformation } from "effect"

const longest = 254
const longestLocalPart = 64

// The characters of an unquoted local part (RFC 5322, 3.2.3), and letters and digits of every script (RFC 6531).
const localPart = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
// The dots of other scripts count as dots (UTS 46).
const domainCharacters = /^[\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+$/u
const hostName = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const ignorable = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u

const bytes = (text: string): number => new TextEncoder().encode(text).length

/** The domain in the form that mail servers use: lower case, and punycode for other scripts. `undefined` for anything else. */
const domainName = (text: string): string | undefined => {
  if (ignorable.test(text) || !domainCharacters.test(text) || !URL.canParse(`http://${text}`)) return undefined
  const name = new URL(`http://${text}`).hostname
  // A machine's address ends with a label of digits, even if it was written as one number.
  return name.length <= 253 && hostName.test(name) && !/(?:^|\.)\d+$/.test(name) ? name : undefined
}

/** The form that earlier releases stored; lookups also try it, to find an address that no mail server accepts. */
const earlierForm = (text: string): string => text.trim().normalize("NFC").toLowerCase()

const parsed = (given: string): string | undefined => {
  const text = earlierForm(given)
  const at = text.lastIndexOf("@")
  const local = text.slice(0, Math.max(at, 0))
  const domain = domainName(text.slice(at + 1))
  // Compatibility forms (full width, ligatures) look like other letters.
  if (domain === undefined || ignorable.test(local) || local.normalize("NFKC") !== local) return undefined
  if (!localPart.test(local) || bytes(local) > longestLocalPart) return undefined
  const address = `${local}@${domain}`
  return bytes(address) <= longest ? address : undefined
}

/** Returns an address in its stored form, and any other text unchanged. */
export const withStoredSpelling = (text: string): string => parsed(text) ?? text

/**
 * An e-mail address in its only stored, compared and mailed form: lower case, NFC, the domain in punycode. Addresses that no mail
 * server accepts are refused: brackets, white space, invisible characters, full-width letters before the `@`, addresses of
 * machines.
 */
export const EmailAddress = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter((text) => parsed(text) === text, { expected: "an e-mail address such as ann@example.com" })
    ),
    SchemaTransformation.transform({ decode: withStoredSpelling, encode: (text) => text })
  )
)

/** A domain of e-mail addresses in the form of `EmailAddress`, with at least two labels. */
export const EmailDomain = Schema.String.check(
  Schema.makeFilter((text) => domainName(text) === text && text.includes("."), {
    expected: "a domain in lower case such as example.com, in punycode if it has letters of other scripts"
  })
)

/** The forms in which to look up a typed address, best first: the form of earlier releases, and today's form. */
export const addressForms = (text: string): readonly [string, string] => {
  const earlier = earlierForm(text)
  return [earlier, parsed(text) ?? earlier]
}
