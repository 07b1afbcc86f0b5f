import "../../app/Kit.ts"
import { useInfiniteQuery } from "@tanstack/react-query"
import { activityQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { ActivityList } from "../../app/ActivityList.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"

/** The actions on this Capsule and its Runs. */
export const CapsuleActivity = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const query = useInfiniteQuery(activityQuery(workspace.id, { capsuleId: capsule.id }))
  return (
    <>
      <Panel flush>
        <Loadable query={query}>
          {({ pages }) => {
            const events = pages.flatMap((page) => page.events)
            return events.length === 0 ? (
              <Empty icon="activity" title={words.activityNone} />
            ) : (
              <ActivityList events={events} />
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </>
  )
}
