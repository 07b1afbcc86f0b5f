/** The request for a list: a size and the opaque cursor of the previous page. */
export interface PageRequest {
  readonly limit: number
  readonly cursor?: string | undefined
  /** The subject that asks for the list: another subject's cursor is rejected. */
  readonly subject?: string | undefined
}

/** One page of a list; `nextCursor` is absent on the last page. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor?: string | undefined
}
