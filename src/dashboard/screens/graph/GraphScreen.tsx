import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { lazy, Suspense } from "react"
import { graphQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Page } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { graphWords } from "./Words.ts"

// The drawing library is as large as the rest of the page, so it is loaded only when there is something to draw.
const Drawing = lazy(() => import("./Drawing.tsx").then(({ Drawing: component }) => ({ default: component })))

export const GraphScreen = () => {
  const words = useWords(graphWords)
  const workspace = useWorkspace()
  const query = useQuery(graphQuery(workspace.id))
  return (
    <Page title={words.title} about={words.about}>
      <Loadable query={query} skeleton={<Skeleton rows={1} height="block" />}>
        {(graph) =>
          graph.edges.length === 0 ? (
            <Empty icon="graph" title={words.emptyTitle}>
              <p>{words.emptyText}</p>
            </Empty>
          ) : (
            <Suspense fallback={<Skeleton rows={1} height="block" />}>
              <Drawing graph={graph} />
            </Suspense>
          )
        }
      </Loadable>
    </Page>
  )
}
