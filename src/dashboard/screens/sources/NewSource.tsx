import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { sourcesCreate } from "../../api/Endpoints.ts"
import { sourcesQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { repositoryName } from "../../words/Format.ts"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { useWords } from "../../words/Words.ts"
import { type SourceDraft, SourceFields } from "./SourceFields.tsx"
import { sourceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

export const NewSource = ({ onClose }: { readonly onClose: () => void }) => {
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
