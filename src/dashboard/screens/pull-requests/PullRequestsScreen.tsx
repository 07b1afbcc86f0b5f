import "../../app/Kit.ts"
import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { pullRequestsQuery } from "../../api/PullRequestQueries.ts"
import { sourcesQuery } from "../../api/Queries.ts"
import { useRowKeys } from "../../app/RowKeys.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useWords } from "../../words/Words.ts"
import { PullRequestList, StateFilter, stateIn } from "./PullRequestList.tsx"
import { pullRequestListWords } from "./Words.ts"

/** Explains why the list is empty, and how to enable pull requests. */
const Nothing = ({ state }: { readonly state: ReturnType<typeof stateIn> }) => {
  const words = useWords(pullRequestListWords)
  const workspace = useWorkspace()
  const sources = useQuery(sourcesQuery(workspace.id)).data
  const follows = sources?.some(
    ({ autoSync, pullRequests, status }) => autoSync && pullRequests !== "off" && status !== "disabled"
  )
  if (follows === false) {
    return (
      <Empty
        icon="pull"
        title={words.offTitle}
        action={
          <LinkButton to="/w/$workspace/sources" params={{ workspace: workspace.handle }}>
            {words.openSources}
          </LinkButton>
        }
      >
        <p>{words.offText}</p>
      </Empty>
    )
  }
  return (
    <Empty icon="pull" title={words.emptyTitle}>
      <p>{state === "open" || state === undefined ? words.emptyOpen : words.emptyOther}</p>
    </Empty>
  )
}

export const PullRequestsScreen = () => {
  const words = useWords(pullRequestListWords)
  const workspace = useWorkspace()
  const search = useSearch({ from: "/w/$workspace/pull-requests" })
  const navigate = useNavigate({ from: "/w/$workspace/pull-requests" })
  const state = stateIn(search.state)
  const query = useInfiniteQuery({
    ...pullRequestsQuery(workspace.id, { state, sourceId: search.source }),
    placeholderData: keepPreviousData
  })
  useRowKeys("[data-run-row]")
  return (
    <Page title={words.title} about={words.about}>
      <StateFilter state={state} onChange={(next) => void navigate({ search: { ...search, state: next } })} />
      {search.source === undefined ? null : (
        <p>
          {words.ofSource}{" "}
          <Button small tone="quiet" onClick={() => void navigate({ search: { state: search.state } })}>
            {words.allSources}
          </Button>
        </p>
      )}
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={6} />}>
          {({ pages }) => {
            const found = pages.flatMap(({ pullRequests }) => pullRequests)
            return found.length === 0 ? <Nothing state={state} /> : <PullRequestList pullRequests={found} />
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </Page>
  )
}
