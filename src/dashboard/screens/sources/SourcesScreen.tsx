import "../../app/Kit.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
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
import { sourceWords } from "./Words.ts"
import { call } from "../../api/Call.ts"
import { sourcesCreate } from "../../api/Endpoints.ts"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { type SourceDraft, SourceFields } from "./SourceFields.tsx"
import { useDecision } from "../../ui/Decision.ts"

const NewSource = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(sourceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [url, setUrl] = useState("")
  const [draft, setDraft] = useState<SourceDraft>({
    name: "",
    defaultRef: "HEAD",
    defaultPath: ".",
    authConnectionId: "",
    autoSync: true
  })
  const [named, setNamed] = useState(false)
  const create = useDecision({
    send: (signal) => {
      const { authConnectionId, ...rest } = draft
      return call(sourcesCreate, {
        signal,
        body: {
          workspaceId: workspace.id,
          url: url.trim(),
          ...rest,
          name: rest.name.trim(),
          ...(authConnectionId === "" ? {} : { authConnectionId })
        }
      })
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sourcesQuery(workspace.id).queryKey })
  })
  const made = create.data
  if (made !== undefined) {
    return (
      <SecretOnce
        title={words.secretTitle}
        text={words.secretText}
        secret={made.hookSecret}
        done={words.done}
        onClose={onClose}
        onDone={() => {
          onClose()
          void navigate({
            to: "/w/$workspace/sources/$sourceId",
            params: { workspace: workspace.handle, sourceId: made.source.id }
          })
        }}
      />
    )
  }
  return (
    <FormDialog
      title={words.create}
      action={terms.create}
      change={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.url}
        type="url"
        mono
        required
        spellCheck={false}
        value={url}
        onChange={(event) => {
          setUrl(event.target.value)
          if (!named) setDraft({ ...draft, name: repositoryName(event.target.value.trim()).slice(0, 80) })
        }}
      />
      <SourceFields
        url={url}
        draft={draft}
        onChange={(next) => {
          if (next.name !== draft.name) setNamed(true)
          setDraft(next)
        }}
      />
    </FormDialog>
  )
}

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
