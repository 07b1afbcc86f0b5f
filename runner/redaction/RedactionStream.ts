import { hasTerminalSequence, isGraphicRendition, terminalSequences } from "./AnsiSequences.ts"
import { redactionMark } from "./RedactionMark.ts"
import { joinSpans, type SecretMatcher, type Span } from "./SecretMatcher.ts"
import { shadowOfPiece, TerminalShadow } from "./TerminalShadow.ts"

// Only a flood of terminal sequences within one secret reaches it.
const longestPending = 32_768

/**
 * Redacts one text that arrives in pieces. What comes out is the same however the text was cut. A secret is found as
 * it stands, and also when terminal sequences are scattered in it. Holds back only an end that could still become a
 * secret: at most about 500 characters, and the terminal sequences among them.
 */
export class RedactionStream {
  readonly #matcher: () => SecretMatcher
  #pending = ""
  // How much of the pending text the last mark already stands for; none when negative.
  #covered = -1
  // The last character that went out, as it stood and in the shadow: a token is recognised by its neighbours.
  #before = { original: "", shadow: "" }

  constructor(matcher: () => SecretMatcher) {
    this.#matcher = matcher
  }

  /** The text so far that no later piece can change. */
  push(piece: string): string {
    const text = this.#pending + piece
    const matcher = this.#matcher()
    const { complete, shadow } = shadowOfPiece(text)
    const plain = shadow.text.length === text.length
    const open = matcher.openSuffix(shadow.text)
    const keep = Math.min(
      complete,
      open < shadow.text.length ? shadow.position(open) : complete,
      plain ? complete : matcher.openSuffix(text)
    )
    return this.#advance(text, shadow, shadow.boundary(Math.max(keep, text.length - longestPending)))
  }

  /** The rest of the text; the stream is done. */
  end(rest = ""): string {
    const text = this.#pending + rest
    return this.#advance(text, new TerminalShadow(text), text.length)
  }

  // A match that starts at `keep` or later may still turn out to be none, and must not be joined to one that is certain.
  #spans(text: string, shadow: TerminalShadow, keep: number): ReadonlyArray<Span> {
    const certain = ({ start }: Span) => start < keep
    const found = (before: string, content: string) =>
      this.#matcher()
        .spans(before + content, before.length)
        .map(({ start, end }) => ({ start: start - before.length, end: end - before.length }))
    const original = found(this.#before.original, text)
    if (shadow.text === text && this.#before.original === this.#before.shadow)
      return joinSpans(original.filter(certain))
    const shadowed = found(this.#before.shadow, shadow.text).map(({ start, end }) => ({
      start: shadow.position(start),
      end: shadow.position(end - 1) + 1
    }))
    return joinSpans([...original, ...shadowed].filter(certain))
  }

  // Colours that a secret was wrapped in would otherwise run on behind the mark.
  #colours(covered: string): string {
    if (!hasTerminalSequence(covered)) return ""
    const matcher = this.#matcher()
    const harmless = (sequence: string) => isGraphicRendition(sequence) && !matcher.finds(sequence)
    return [...terminalSequences(covered)]
      .map(([sequence]) => sequence)
      .filter(harmless)
      .join("")
  }

  #advance(text: string, shadow: TerminalShadow, keep: number): string {
    let output = ""
    let written = 0
    let covered = this.#covered
    const swallow = (end: number) => {
      const until = Math.min(end, keep)
      if (until <= written) return
      output += this.#colours(text.slice(written, until))
      written = until
    }
    swallow(covered)
    for (const { start, end } of this.#spans(text, shadow, keep)) {
      if (start > covered) {
        output += text.slice(written, start) + redactionMark
        written = start
      }
      covered = Math.max(covered, end)
      swallow(covered)
    }
    output += text.slice(written, keep)
    const sent = keep === text.length ? shadow : new TerminalShadow(text.slice(0, keep))
    this.#pending = text.slice(keep)
    this.#covered = covered >= keep ? covered - keep : -1
    this.#before = {
      original: (this.#before.original + text.slice(0, keep)).slice(-1),
      shadow: (this.#before.shadow + sent.text).slice(-1)
    }
    return output
  }
}
