import { useQuery } from "@tanstack/react-query"
import { connectionsQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { sourceWords } from "./Words.ts"

export interface SourceDraft {
  readonly name: string
  readonly defaultRef: string
  readonly defaultPath: string
  readonly authConnectionId: string
  readonly autoSync: boolean
}

/** The part of a Source that can be changed later. */
export const SourceFields = ({
  draft,
  onChange
}: {
  readonly draft: SourceDraft
  readonly onChange: (draft: SourceDraft) => void
}) => {
  const words = useWords(sourceWords)
  const workspace = useWorkspace()
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  const git = connections.filter(({ kind, status }) => kind !== "provider" && status !== "revoked")
  return (
    <>
      <TextField
        label={words.name}
        required
        maxLength={80}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
      <div className="form-pair">
        <TextField
          label={words.ref}
          mono
          required
          spellCheck={false}
          value={draft.defaultRef}
          onChange={(event) => onChange({ ...draft, defaultRef: event.target.value })}
        />
        <TextField
          label={words.path}
          mono
          required
          spellCheck={false}
          value={draft.defaultPath}
          onChange={(event) => onChange({ ...draft, defaultPath: event.target.value })}
        />
      </div>
      {git.length === 0 ? null : (
        <SelectField
          label={words.auth}
          value={draft.authConnectionId}
          onChange={(event) => onChange({ ...draft, authConnectionId: event.target.value })}
        >
          <option value="">{words.authNone}</option>
          {git.map((connection) => (
            <option key={connection.id} value={connection.id}>
              {connection.displayName}
            </option>
          ))}
        </SelectField>
      )}
      <CheckField
        label={words.autoSync}
        helper={words.autoSyncHelp}
        checked={draft.autoSync}
        onChange={(event) => onChange({ ...draft, autoSync: event.target.checked })}
      />
    </>
  )
}
