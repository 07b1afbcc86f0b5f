import type { Page } from "playwright-core"

const control = /^(\s*)- '?(link|button|menuitem|checkbox|switch|navigation)(?: "((?:[^"\\]|\\.)*)")?/
const address = /^(\s*)- \/url: (.*)$/

interface Control {
  /** The role and the accessible name, prefixed with the name of the surrounding navigation, if any. */
  readonly name: string
  /** The address of a link, or a unique value for any other control. */
  readonly target: string
}

const controlsIn = (snapshot: string): ReadonlyArray<Control> => {
  const lines = snapshot.split("\n")
  let navigation: { readonly depth: number; readonly name: string } | undefined
  return lines.flatMap((line, index) => {
    const depth = line.length - line.trimStart().length
    if (navigation !== undefined && depth <= navigation.depth) navigation = undefined
    const [, , role, name = ""] = control.exec(line) ?? []
    if (role === undefined) return []
    if (role === "navigation") {
      navigation = { depth, name: `${name}: ` }
      return []
    }
    const [, inner = "", url = ""] = address.exec(lines[index + 1] ?? "") ?? []
    const target = role === "link" && inner.length > depth ? url : String(index)
    return [{ name: `${role} "${navigation?.name ?? ""}${name}"`, target }]
  })
}

/**
 * Finds accessible names that several controls with different targets share, so that a person cannot distinguish them in a
 * list of controls. Different navigations may each have a link with the same name.
 */
export const sharedNames = async (page: Page): Promise<ReadonlyArray<string>> => {
  const targets = new Map<string, Set<string>>()
  for (const { name, target } of controlsIn(await page.locator("body").ariaSnapshot()))
    targets.set(name, (targets.get(name) ?? new Set()).add(target))
  return [...targets].flatMap(([name, of]) => (of.size > 1 ? [`${of.size} controls are named ${name}`] : []))
}

/**
 * Finds controls that are partly outside the window, unless they are in a row that a person can scroll. Also finds the
 * current tab if its row is not scrolled to that tab.
 */
export const outsideControls = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const scrolls = (element: Element): boolean => {
      const parent = element.parentElement
      if (parent === null) return false
      return (
        (parent.scrollWidth > parent.clientWidth && getComputedStyle(parent).overflowX === "auto") || scrolls(parent)
      )
    }
    return [...document.querySelectorAll("a, button, input, select, summary, textarea")]
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect()
        if (width === 0 || !element.checkVisibility() || (left >= -1 && right <= innerWidth + 1)) return false
        return element.matches("[aria-current=page]") || !scrolls(element)
      })
      .map((element) => `outside the window: ${element.outerHTML.slice(0, 120)}`)
  })

/** Names that people gave to records of the test world. */
const givenNames: ReadonlySet<string> = new Set([
  "Chat of the platform team",
  "Deploy from CI",
  "Shared DNS zone",
  "svc command line"
])

/**
 * Finds visible text of at least three Latin words on a Japanese page. Skips code, quotations and text marked with a
 * language, because people may write these in another language.
 */
export const untranslated = async (page: Page): Promise<ReadonlyArray<string>> => {
  const found = await page.evaluate(() => {
    const marked =
      "code, pre, bdi, q, blockquote, script, style, noscript, .readme, .difference, .value, [lang=en], [dir=auto]"
    const isForeign = (text: string) =>
      /[A-Za-z]{2,}[,;:]? [A-Za-z]+[,;:]? [A-Za-z]+/.test(text) && !/[぀-ヿ一-鿿]/.test(text)
    const found = new Set<string>()
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const element = node.parentElement
      const text = node.textContent ?? ""
      if (element?.closest(marked) === null && element.checkVisibility() && isForeign(text)) found.add(text.trim())
    }
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]"))
      for (const name of ["aria-label", "title", "placeholder"]) {
        const text = element.getAttribute(name) ?? ""
        if (text.startsWith("Mozilla/")) continue
        if (element.closest(marked) === null && isForeign(text)) found.add(`${name}: ${text}`)
      }
    return [...found]
  })
  return found.filter((text) => !givenNames.has(text)).map((text) => `not translated: ${text}`)
}
