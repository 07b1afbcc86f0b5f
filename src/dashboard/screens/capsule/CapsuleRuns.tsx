import { useInfiniteQuery } from "@tanstack/react-query"
import { runsQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { RunList } from "../../app/RunList.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"

export const CapsuleRuns = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const query = useInfiniteQuery(runsQuery(workspace.id, { capsuleId: capsule.id }))
  return (
    <>
      <Panel flush>
        <Loadable query={query}>
          {({ pages }) => {
            const runs = pages.flatMap((page) => page.runs)
            return runs.length === 0 ? <Empty icon="run" title={words.runsNone} /> : <RunList runs={runs} />
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </>
  )
}
