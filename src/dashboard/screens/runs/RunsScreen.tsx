import "../../app/Kit.ts"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { capsulesQuery, runsQuery } from "../../api/Queries.ts"
import type { RunStatus, RunType } from "../../api/Types.ts"
import { RunList } from "../../app/RunList.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { Empty, Loadable, Skeleton } from "../../ui/Feedback.tsx"
import { Filter } from "../../ui/Filter.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"

const words = {
  en: {
    title: "Runs",
    about: "Everything that was planned, applied, synced or checked here, newest first.",
    status: "Status",
    type: "Kind",
    emptyTitle: "No runs",
    emptyText: "A run appears when a source is synced, a plan is made or a plan is applied.",
    emptyFiltered: "No run matches these filters."
  },
  ja: {
    title: "実行",
    about: "プラン、適用、同期、チェックのすべての記録です（新しい順）。",
    status: "状態",
    type: "種類",
    emptyTitle: "実行はありません",
    emptyText: "ソースの同期、プランの作成、適用を行うと、ここに表示されます。",
    emptyFiltered: "この条件に一致する実行はありません。"
  }
}

const statuses: ReadonlyArray<RunStatus> = [
  "queued",
  "running",
  "waiting_approval",
  "succeeded",
  "failed",
  "cancelled",
  "superseded",
  "expired"
]
const types: ReadonlyArray<RunType> = [
  "plan",
  "apply",
  "destroy_plan",
  "destroy_apply",
  "drift_check",
  "source_sync",
  "compatibility_check",
  "backup",
  "restore"
]

export const RunsScreen = () => {
  const text = useWords(words)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const search = useSearch({ from: "/w/$workspace/runs" })
  const navigate = useNavigate({ from: "/w/$workspace/runs" })
  const capsules = useQuery(capsulesQuery(workspace.id)).data
  const query = useInfiniteQuery(
    runsQuery(workspace.id, {
      ...(search.status === undefined ? {} : { status: search.status }),
      ...(search.type === undefined ? {} : { type: search.type })
    })
  )
  const filtered = search.status !== undefined || search.type !== undefined
  return (
    <Page title={text.title} about={text.about}>
      <div className="toolbar">
        <Filter
          label={text.status}
          value={search.status}
          options={statuses.map((status) => [status, terms.runStatus[status]])}
          onChange={(status) => void navigate({ search: { ...search, status }, replace: true })}
        />
        <Filter
          label={text.type}
          value={search.type}
          options={types.map((type) => [type, terms.runType[type]])}
          onChange={(type) => void navigate({ search: { ...search, type }, replace: true })}
        />
      </div>
      <Panel flush>
        <Loadable query={query} skeleton={<Skeleton rows={8} />}>
          {({ pages }) => {
            const runs = pages.flatMap((page) => page.runs)
            return runs.length === 0 ? (
              <Empty icon="run" title={text.emptyTitle}>
                <p>{filtered ? text.emptyFiltered : text.emptyText}</p>
              </Empty>
            ) : (
              <RunList runs={runs} capsules={capsules ?? []} />
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
    </Page>
  )
}
