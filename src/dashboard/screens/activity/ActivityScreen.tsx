import "../../app/Kit.ts"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { auditExport } from "../../api/Endpoints.ts"
import { activityQuery, capsulesQuery } from "../../api/Queries.ts"
import { address } from "../../api/Url.ts"
import { ActivityList } from "../../app/ActivityList.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { useWords } from "../../words/Words.ts"

const words = {
  en: {
    title: "Activity",
    about: "Who did what, newest first. Entries are only ever added, and never hold a secret or a value.",
    capsule: "Capsule",
    download: "Export as JSON lines",
    emptyTitle: "Nothing happened yet",
    emptyText: "Every change that a person, a token or the service makes is recorded here."
  },
  ja: {
    title: "アクティビティ",
    about: "誰が何をしたかの記録です（新しい順）。追記のみで、秘密や値は含まれません。",
    capsule: "カプセル",
    download: "JSON Lines でエクスポート",
    emptyTitle: "まだ記録はありません",
    emptyText: "人、トークン、サービスによる変更が、すべてここに記録されます。"
  }
}

export const ActivityScreen = () => {
  const text = useWords(words)
  const workspace = useWorkspace()
  const may = useMay()
  const [capsuleId, setCapsuleId] = useState<string | undefined>(undefined)
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const query = useInfiniteQuery(activityQuery(workspace.id, capsuleId === undefined ? {} : { capsuleId }))
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={
        may("owner") ? (
          <a
            className="button button-plain"
            href={address(auditExport, { params: { workspaceId: workspace.id } })}
            download={`audit-${workspace.handle}.jsonl`}
          >
            {text.download}
          </a>
        ) : undefined
      }
    >
      {capsules.length === 0 ? null : (
        <div className="toolbar">
          <Filter
            label={text.capsule}
            value={capsuleId}
            options={capsules.map((capsule) => [capsule.id, `${capsule.name} · ${capsule.environment}`])}
            onChange={setCapsuleId}
          />
        </div>
      )}
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={8} />}>
          {({ pages }) => {
            const events = pages.flatMap((page) => page.events)
            return events.length === 0 ? (
              <Empty icon="activity" title={text.emptyTitle}>
                <p>{text.emptyText}</p>
              </Empty>
            ) : (
              <ActivityList events={events} detailed />
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </Page>
  )
}
