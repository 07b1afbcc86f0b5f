import { Effect } from "effect"

const pageSize = 100

interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor?: string | undefined
}

export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** Returns all items of a list, or the first `most` items. */
export const allPages = Effect.fnUntraced(function* <A, E, R>(
  page: (query: PageQuery) => Effect.Effect<Page<A>, E, R>,
  most = Number.POSITIVE_INFINITY
) {
  const items: Array<A> = []
  let cursor: string | undefined
  do {
    const limit = Math.min(pageSize, most - items.length)
    const { items: more, nextCursor } = yield* page({ limit, ...(cursor === undefined ? {} : { cursor }) })
    items.push(...more)
    cursor = nextCursor
  } while (cursor !== undefined && items.length < most)
  return items
})
