import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Button } from "./Button.tsx"

interface MorePagesProps {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
}

/** Shown below a paged list if there are more pages. */
export const MorePages = ({ query }: MorePagesProps) => {
  const terms = useWords(vocabulary)
  return query.hasNextPage ? (
    <div className="load-more">
      <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {terms.loadMore}
      </Button>
    </div>
  ) : null
}
