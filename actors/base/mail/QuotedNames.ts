import { visibleText } from "../../../schema/records/VisibleText.ts"

const mostCharacters = 40

// Mail programs turn these into links, also without a scheme.
const dots = /(?<=[^\s.])[.\uff0e\u2024](?=[^\s.])|[\u3002\uff61](?=[A-Za-z\uff21-\uff3a\uff41-\uff5a])/gu
const marks = /:(?=[/\uff0f])|\uff1a(?=[/\uff0f])|[@\uff20\ufe6b]/gu
const quotes = /["\u201c-\u201f\u00ab\u00bb\u300c-\u300f\uff02\uff62\uff63]/gu

/**
 * A name that a person chose, for a mail: on one line, short, without links and without quotation marks, so that it can neither
 * continue nor replace the server's own words. The caller quotes it.
 */
export const mailedName = (name: string): string => {
  const line = visibleText(name.toWellFormed().replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ")).trim()
  const characters = [...line.replace(quotes, "'")]
  const short =
    characters.length > mostCharacters ? `${characters.slice(0, mostCharacters).join("")}\u2026` : characters.join("")
  return short.replace(dots, "[.]").replace(marks, "[$&]")
}

// An address as most people have it contains nothing that a mail program takes for the address of a page.
const plainAddress = /^(?!www\.)[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@[a-z0-9.-]+$/

/** The person who caused a mail: the quoted name, or the address of an account without a name. */
export const mailedPerson = (name: string, quoted: (name: string) => string): string =>
  plainAddress.test(name) && name.length <= mostCharacters * 2 ? name : quoted(mailedName(name))
