import { Marked } from "marked"

/** A part of a line. `address` is unchanged here, and is checked when the line is rendered. */
export type ReadmeInline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly parts: ReadonlyArray<ReadmeInline> }
  | { readonly kind: "link"; readonly address: string; readonly parts: ReadonlyArray<ReadmeInline> }
  | { readonly kind: "image"; readonly address: string; readonly text: string }
  | { readonly kind: "break" }

export type ReadmeCell = ReadonlyArray<ReadmeInline>

export type ReadmeBlock =
  | { readonly kind: "heading"; readonly depth: number; readonly parts: ReadonlyArray<ReadmeInline> }
  | { readonly kind: "paragraph"; readonly parts: ReadonlyArray<ReadmeInline> }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: ReadonlyArray<ReadmeBlock> }
  | {
      readonly kind: "list"
      readonly start?: number
      readonly items: ReadonlyArray<{ readonly checked?: boolean; readonly blocks: ReadonlyArray<ReadmeBlock> }>
    }
  | {
      readonly kind: "table"
      readonly head: ReadonlyArray<ReadmeCell>
      readonly rows: ReadonlyArray<ReadonlyArray<ReadmeCell>>
    }
  | { readonly kind: "rule" }

/** A README without active content. It contains no HTML, and none of its URLs are fetched. */
export interface ReadmeTree {
  readonly blocks: ReadonlyArray<ReadmeBlock>
  /** True if the rest of the README was omitted. */
  readonly isCut: boolean
}

/** The fields of a parser token that this module uses. */
interface Token {
  readonly type: string
  readonly raw?: string
  readonly text?: string
  readonly depth?: number
  readonly href?: string
  readonly ordered?: boolean
  readonly start?: number | ""
  readonly task?: boolean
  readonly checked?: boolean
  readonly tokens?: ReadonlyArray<Token>
  readonly items?: ReadonlyArray<Token>
}
interface TableToken extends Token {
  readonly header: ReadonlyArray<{ readonly tokens: ReadonlyArray<Token> }>
  readonly rows: ReadonlyArray<ReadonlyArray<{ readonly tokens: ReadonlyArray<Token> }>>
}

const isTable = (token: Token): token is TableToken => "header" in token && "rows" in token

/** Maximum length of a README. Nobody would read a longer text, and a page could not render it quickly. */
const mostParts = 6000
/** Maximum nesting depth. Nobody would nest text more deeply on purpose. */
const deepest = 12

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" }

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|([a-z]{2,4}));/g, (whole, code: string | undefined, name: string | undefined) => {
    if (name !== undefined) return entities[name] ?? whole
    const point = Number(code)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** Returns the text between tags. */
const withoutTags = (html: string): string => {
  const [first = "", ...rest] = html.split("<")
  return first + rest.map((part) => (part.includes(">") ? part.slice(part.indexOf(">") + 1) : "")).join("")
}

/** The number of parts that may still be added to the tree. */
interface Room {
  left: number
  isCut: boolean
}

const taken = (room: Room): boolean => {
  if (room.left === 0) room.isCut = true
  else room.left -= 1
  return !room.isCut
}

const inlineOf = (tokens: ReadonlyArray<Token> | undefined, room: Room, depth: number): ReadonlyArray<ReadmeInline> =>
  (tokens ?? []).flatMap((token): ReadonlyArray<ReadmeInline> => {
    if (!taken(room)) return []
    const parts = () => inlineOf(token.tokens, room, depth + 1)
    const text = decoded(token.text ?? "")
    if (depth > deepest) return [{ kind: "text", text }]
    switch (token.type) {
      case "strong":
        return [{ kind: "strong", parts: parts() }]
      case "em":
        return [{ kind: "emphasis", parts: parts() }]
      case "del":
        return [{ kind: "deleted", parts: parts() }]
      case "codespan":
        return [{ kind: "code", text: token.text ?? "" }]
      case "br":
        return [{ kind: "break" }]
      case "link":
        return [{ kind: "link", address: token.href ?? "", parts: parts() }]
      case "image":
        return [{ kind: "image", address: token.href ?? "", text }]
      case "html":
        return /^<br\s?\/?>$/i.test((token.raw ?? "").trim()) ? [{ kind: "break" }] : []
      default:
        return token.tokens === undefined ? [{ kind: "text", text }] : parts()
    }
  })

const listOf = ({ items, ordered, start }: Token, room: Room, depth: number): ReadmeBlock => ({
  kind: "list",
  ...(ordered === true ? { start: typeof start === "number" ? start : 1 } : {}),
  items: (items ?? []).map(({ checked, task, tokens }) => ({
    ...(task === true ? { checked: checked === true } : {}),
    blocks: blocksOf(tokens, room, depth + 1)
  }))
})

function blocksOf(tokens: ReadonlyArray<Token> | undefined, room: Room, depth: number): ReadonlyArray<ReadmeBlock> {
  if (depth > deepest) {
    room.isCut = true
    return []
  }
  return (tokens ?? []).flatMap((token): ReadonlyArray<ReadmeBlock> => {
    if (token.type === "space" || token.type === "def" || token.type === "checkbox" || !taken(room)) return []
    if (isTable(token)) {
      const cell = ({ tokens: inner }: { readonly tokens: ReadonlyArray<Token> }) => inlineOf(inner, room, 0)
      return [{ kind: "table", head: token.header.map(cell), rows: token.rows.map((row) => row.map(cell)) }]
    }
    switch (token.type) {
      case "heading":
        return [{ kind: "heading", depth: token.depth ?? 1, parts: inlineOf(token.tokens, room, 0) }]
      case "code":
        return [{ kind: "code", text: token.text ?? "" }]
      case "blockquote":
        return [{ kind: "quote", blocks: blocksOf(token.tokens, room, depth + 1) }]
      case "list":
        return [listOf(token, room, depth)]
      case "hr":
        return [{ kind: "rule" }]
      case "html": {
        const text = decoded(withoutTags(token.raw ?? "")).trim()
        return text === "" ? [] : [{ kind: "paragraph", parts: [{ kind: "text", text }] }]
      }
      default: {
        const parts: ReadonlyArray<ReadmeInline> =
          token.tokens === undefined
            ? [{ kind: "text", text: decoded(token.text ?? "") }]
            : inlineOf(token.tokens, room, 0)
        return [{ kind: "paragraph", parts }]
      }
    }
  })
}

/** Parses Markdown. Fails if the text is nested too deeply for the parser. */
export const readmeTree = (text: string): ReadmeTree => {
  const room: Room = { left: mostParts, isCut: false }
  const blocks = blocksOf(new Marked({ gfm: true }).lexer(text), room, 0)
  return { blocks, isCut: room.isCut }
}
