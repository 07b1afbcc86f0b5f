/** Maximum length of a line that is parsed as a message, in UTF-16 units. Longer lines are log lines. */
export const longestMessage = 1024 * 1024

/**
 * The start of the line in which a tool prints a state that it cannot write. No other copy of the state exists, so svc never
 * truncates this line.
 */
const emergencyHead = /^\{"@level":"[a-z]{1,10}","@message":"Emergency state dump"/
const headLength = 80
const longestEmergency = 512 * 1024 * 1024

export interface OutputLine {
  readonly text: string
  /** True if the line exceeded the maximum length and was truncated. */
  readonly cut: boolean
}

/** Splits the output of a tool into lines, in bounded memory. */
export class MessageLines {
  readonly #decoder = new TextDecoder("utf-8")
  #pending: Array<string> = []
  #length = 0
  #head = ""
  #cut = false

  push(bytes: Uint8Array): ReadonlyArray<OutputLine> {
    return this.#add(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): ReadonlyArray<OutputLine> {
    const lines = this.#add(this.#decoder.decode())
    return this.#length === 0 ? lines : [...lines, this.#take()]
  }

  #add(text: string): ReadonlyArray<OutputLine> {
    const lines: Array<OutputLine> = []
    const parts = text.split("\n")
    const last = parts.pop() ?? ""
    for (const part of parts) {
      this.#append(part)
      lines.push(this.#take())
    }
    this.#append(last)
    return lines
  }

  #append(text: string): void {
    if (text === "") return
    if (this.#head.length < headLength) this.#head += text.slice(0, headLength - this.#head.length)
    const room = (emergencyHead.test(this.#head) ? longestEmergency : longestMessage) - this.#length
    const kept = text.length > room ? text.slice(0, Math.max(0, room)) : text
    if (kept.length < text.length) this.#cut = true
    this.#pending.push(kept)
    this.#length += kept.length
  }

  #take(): OutputLine {
    const line = { text: this.#pending.join("").replace(/\r$/, ""), cut: this.#cut }
    this.#pending = []
    this.#length = 0
    this.#head = ""
    this.#cut = false
    return line
  }
}
