import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "react"
import { capsulePullRequestsQuery } from "../../api/PullRequestQueries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { LinkButton } from "../../ui/Button.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useWords } from "../../words/Words.ts"
import { PullRequestList, StateFilter, stateIn } from "../pull-requests/PullRequestList.tsx"
import { pullRequestListWords } from "../pull-requests/Words.ts"

/** The pull requests whose heads affect the Capsule. */
export const CapsulePullRequests = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(pullRequestListWords)
  const workspace = useWorkspace()
  const [chosen, setChosen] = useState("open")
  const state = stateIn(chosen)
  const query = useInfiniteQuery({ ...capsulePullRequestsQuery(capsule.id, state), placeholderData: keepPreviousData })
  return (
    <>
      <StateFilter state={state} onChange={setChosen} />
      <Panel flush>
        <Loadable query={query}>
          {({ pages }) => {
            const found = pages.flatMap(({ pullRequests }) => pullRequests)
            return found.length === 0 ? (
              <Empty
                icon="pull"
                title={words.capsuleEmpty}
                action={
                  <LinkButton
                    to="/w/$workspace/sources/$sourceId"
                    params={{ workspace: workspace.handle, sourceId: capsule.sourceId }}
                  >
                    {words.openSource}
                  </LinkButton>
                }
              >
                <p>{words.capsuleEmptyText}</p>
              </Empty>
            ) : (
              <PullRequestList pullRequests={found} />
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </>
  )
}
