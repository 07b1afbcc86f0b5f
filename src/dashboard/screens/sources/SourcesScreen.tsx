import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { sourcesQuery } from "../../api/Queries.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { SourceStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { repositoryName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { NewSource } from "./NewSource.tsx"
import { sourceWords } from "./Words.ts"

export const SourcesScreen = () => {
  const words = useWords(sourceWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [creating, setCreating] = useState(false)
  const query = useQuery(sourcesQuery(workspace.id))
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setCreating(true)}>
      {words.create}
    </Button>
  )
  return (
    <Page title={words.title} about={words.about} actions={may("member") ? create : null}>
      <Panel flush>
        <Loadable query={query}>
          {(sources) =>
            sources.length === 0 ? (
              <Empty icon="source" title={words.emptyTitle} action={may("member") ? create : undefined}>
                <p>{words.emptyText}</p>
              </Empty>
            ) : (
              <ul className="rows rows-runs">
                {sources.map((source) => (
                  <li key={source.id}>
                    <Link
                      to="/w/$workspace/sources/$sourceId"
                      params={{ workspace: workspace.handle, sourceId: source.id }}
                      className="row row-run"
                    >
                      <span className="row-name row-stack">
                        <strong>{source.name}</strong>
                        <span className="muted">{repositoryName(source.url)}</span>
                      </span>
                      <span className="row-commit">
                        <code>{source.defaultRef}</code>
                      </span>
                      <span className="row-who">
                        {source.autoSync ? `${words.autoSyncOn} · ` : ""}
                        {source.lastSyncedAt === undefined ? words.neverSynced : <Time at={source.lastSyncedAt} />}
                      </span>
                      <SourceStatus status={source.status} />
                    </Link>
                  </li>
                ))}
              </ul>
            )
          }
        </Loadable>
      </Panel>
      {creating ? <NewSource onClose={() => setCreating(false)} /> : null}
    </Page>
  )
}
