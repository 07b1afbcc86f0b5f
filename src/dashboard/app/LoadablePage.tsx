import type { ReactNode } from "react"
import { Fault } from "../api/Fault.ts"
import { Loadable, Skeleton } from "../ui/Feedback.tsx"
import { Page } from "../ui/Layout.tsx"
import { useWords } from "../words/Words.ts"
import { NotFound } from "./Fallbacks.tsx"
import { appWords } from "./Words.ts"

interface LoadablePageProps<A> {
  readonly query: {
    readonly data: A | undefined
    readonly error: unknown
    readonly isPending: boolean
    readonly refetch: () => unknown
  }
  /** Shown in place of the page while it loads. */
  readonly skeleton?: ReactNode
  readonly children: (data: A) => ReactNode
}

/** A page about one record. Even if the record does not exist or cannot be read, the page has a heading. */
export const LoadablePage = <A,>({ query, skeleton, children }: LoadablePageProps<A>) => {
  const words = useWords(appWords)
  const fails = query.data === undefined && query.error !== null
  if (fails && query.error instanceof Fault && query.error.status === 404) return <NotFound />
  const content = (
    <Loadable
      query={query}
      skeleton={
        skeleton ?? (
          <div className="page">
            <Skeleton rows={1} height="line" />
            <Skeleton rows={5} />
          </div>
        )
      }
    >
      {children}
    </Loadable>
  )
  return fails ? <Page title={words.crashTitle}>{content}</Page> : content
}
