/** The keys of one open object. Most objects in a large document are small, and a `Set` for each would double the cost. */
export class SeenKeys {
  readonly #few: Array<string> = []
  #many: Set<string> | undefined

  /** Records the key. Returns false if it had already been seen. */
  add(key: string): boolean {
    if (this.#many !== undefined) return this.#many.size < this.#many.add(key).size
    if (this.#few.includes(key)) return false
    this.#few.push(key)
    if (this.#few.length > 8) this.#many = new Set(this.#few)
    return true
  }
}
