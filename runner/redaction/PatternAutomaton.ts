/**
 * The condition under which a pattern match counts.
 *
 * - `anywhere`: always
 * - `token`: between characters that are not part of a word
 * - `number`: like `token`, and not as part of a date, version or address
 * - `guarded`: if the match covers at least `minSource` characters of the text
 * - `unbroken`: in text without whitespace and line breaks
 */
export type PatternKind = "anywhere" | "token" | "number" | "guarded" | "unbroken"

export interface Pattern {
  readonly bytes: Uint8Array
  readonly kind: PatternKind
  readonly origin: string
  readonly minSource: number
  /**
   * True if the secret ends with backslashes, which are not in `bytes`. If the characters after a match represent these
   * backslashes, they are part of the match.
   */
  readonly trailing: boolean
}

const nothing = -1

/**
 * Finds any number of byte patterns in one pass (Aho-Corasick). Takes one step per byte on average, regardless of the number
 * of patterns. The state of the automaton is the longest suffix of the input that may still become a pattern.
 */
export class PatternAutomaton {
  readonly #patterns: ReadonlyArray<Pattern>
  readonly #root = new Int32Array(256)
  readonly #mask: number
  readonly #keys: Int32Array
  readonly #targets: Int32Array
  readonly #failure: Int32Array
  readonly #anywhere: Int32Array
  readonly #bounded: Int32Array
  readonly #boundedLink: Int32Array
  /** For each state, the length of the longest suffix that may still become a pattern. */
  readonly depth: Uint16Array
  /** Like `depth`, but only for suffixes that are not complete patterns yet. */
  readonly unfinishedDepth: Uint16Array
  readonly longest: number

  constructor(patterns: ReadonlyArray<Pattern>) {
    this.#patterns = patterns
    this.longest = patterns.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0)
    const most = patterns.reduce((sum, { bytes }) => sum + bytes.length, 1)
    let slots = 16
    while (slots < most * 2) slots *= 2
    this.#mask = slots - 1
    this.#keys = new Int32Array(slots).fill(nothing)
    this.#targets = new Int32Array(slots)
    const depth = new Uint16Array(most)
    const firstChild = new Int32Array(most)
    const sibling = new Int32Array(most)
    const byteOf = new Uint8Array(most)
    const anywhere = new Int32Array(most).fill(nothing)
    const bounded = new Int32Array(most).fill(nothing)
    let size = 1
    patterns.forEach(({ bytes, kind }, index) => {
      let node = 0
      for (const byte of bytes) {
        let next = this.#child(node, byte)
        if (next === 0) {
          next = size++
          this.#insert(node, byte, next)
          depth[next] = (depth[node] ?? 0) + 1
          byteOf[next] = byte
          sibling[next] = firstChild[node] ?? 0
          firstChild[node] = next
        }
        node = next
      }
      const ends = kind === "anywhere" ? anywhere : bounded
      if (node !== 0 && ends[node] === nothing) ends[node] = index
    })
    this.depth = depth.slice(0, size)
    this.unfinishedDepth = new Uint16Array(size)
    this.#failure = new Int32Array(size)
    this.#anywhere = anywhere.slice(0, size)
    this.#bounded = bounded.slice(0, size)
    this.#boundedLink = new Int32Array(size)
    this.#link(size, firstChild, sibling, byteOf)
  }

  /** Returns the next state after a byte. */
  step(state: number, byte: number): number {
    let node = state
    while (node !== 0) {
      const next = this.#child(node, byte)
      if (next !== 0) return next
      node = this.#failure[node] ?? 0
    }
    return this.#root[byte] ?? 0
  }

  /**
   * Returns the origin of the secret that may begin with these bytes. Scans all patterns, so call it only if a text ends
   * inside a secret, which is rare.
   */
  originOfBeginning(bytes: Uint8Array): string | undefined {
    return this.#patterns.find((pattern) => bytes.every((byte, index) => pattern.bytes[index] === byte))?.origin
  }

  /** Returns the longest pattern of kind `anywhere` that ends in this state. */
  found(state: number): Pattern | undefined {
    const index = this.#anywhere[state] ?? nothing
    return index === nothing ? undefined : this.#patterns[index]
  }

  /** Returns true if a conditional pattern ends in this state. */
  hasConditional(state: number): boolean {
    return this.#bounded[state] !== nothing || this.#boundedLink[state] !== 0
  }

  /** Returns the conditional patterns that end in this state, longest first. */
  conditional(state: number): ReadonlyArray<Pattern> {
    const found: Array<Pattern> = []
    for (let node = state; node !== 0; node = this.#boundedLink[node] ?? 0) {
      const pattern = this.#patterns[this.#bounded[node] ?? nothing]
      if (pattern !== undefined) found.push(pattern)
    }
    return found
  }

  #slot(node: number, byte: number): number {
    const key = node * 256 + byte
    let slot = Math.imul(key ^ (key >>> 15), 0x9e3779b1) >>> 0
    slot = (slot ^ (slot >>> 13)) & this.#mask
    while (this.#keys[slot] !== nothing && this.#keys[slot] !== key) slot = (slot + 1) & this.#mask
    return slot
  }

  #child(node: number, byte: number): number {
    if (node === 0) return this.#root[byte] ?? 0
    const slot = this.#slot(node, byte)
    return this.#keys[slot] === nothing ? 0 : (this.#targets[slot] ?? 0)
  }

  #insert(node: number, byte: number, target: number): void {
    if (node === 0) {
      this.#root[byte] = target
      return
    }
    const slot = this.#slot(node, byte)
    this.#keys[slot] = node * 256 + byte
    this.#targets[slot] = target
  }

  // The queue contains parents before their children, so the target of a failure link is already complete.
  #link(size: number, firstChild: Int32Array, sibling: Int32Array, byteOf: Uint8Array): void {
    const queue = new Int32Array(size)
    let filled = 1
    for (let head = 0; head < filled; head++) {
      const node = queue[head] ?? 0
      for (let child = firstChild[node] ?? 0; child !== 0; child = sibling[child] ?? 0) {
        queue[filled++] = child
        const failure = node === 0 ? 0 : this.step(this.#failure[node] ?? 0, byteOf[child] ?? 0)
        this.#failure[child] = failure
        this.unfinishedDepth[child] =
          firstChild[child] === 0 ? (this.unfinishedDepth[failure] ?? 0) : (this.depth[child] ?? 0)
        if (this.#anywhere[child] === nothing) this.#anywhere[child] = this.#anywhere[failure] ?? nothing
        this.#boundedLink[child] = this.#bounded[failure] === nothing ? (this.#boundedLink[failure] ?? 0) : failure
      }
    }
  }
}
