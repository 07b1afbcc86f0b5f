import { Effect, Option, Stream } from "effect"
import type { Answer, Items } from "./SvcError.ts"

/** `limit` is from 1 to 100. `cursor` comes from the previous page. */
export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

/** One page of a list. The last page has no `nextCursor`. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor?: string
}

/** Converts a response that uses a different name for its items to a page. */
export const pageOf = <A>(
  items: ReadonlyArray<A>,
  { nextCursor }: { readonly nextCursor?: string | undefined }
): Page<A> => (nextCursor === undefined ? { items } : { items, nextCursor })

/** Streams every item, starting with the query's page. Reads a page only when its first item is requested. */
export const everyPage = <Q extends PageQuery, A>(page: (query: Q) => Answer<Page<A>>, query: Q): Items<A> =>
  Stream.paginate(query.cursor, (cursor) =>
    Effect.map(page(cursor === undefined ? query : { ...query, cursor }), ({ items, nextCursor }) => [
      items,
      nextCursor === undefined ? Option.none() : Option.some(nextCursor)
    ])
  )
