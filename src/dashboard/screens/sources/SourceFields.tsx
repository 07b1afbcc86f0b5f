import { CheckField, TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { GitConnectionField } from "../connections/GitConnectionField.tsx"
import { sourceWords } from "./Words.ts"

export interface SourceDraft {
  readonly name: string
  readonly defaultRef: string
  readonly defaultPath: string
  readonly authConnectionId: string
  readonly autoSync: boolean
}

/** The fields of a Source that can be changed later. */
export const SourceFields = ({
  url,
  draft,
  onChange
}: {
  readonly url: string
  readonly draft: SourceDraft
  readonly onChange: (draft: SourceDraft) => void
}) => {
  const words = useWords(sourceWords)
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
      <GitConnectionField
        url={url}
        value={draft.authConnectionId}
        onChange={(authConnectionId) => onChange({ ...draft, authConnectionId })}
      />
      <CheckField
        label={words.autoSync}
        helper={words.autoSyncHelp}
        checked={draft.autoSync}
        onChange={(event) => onChange({ ...draft, autoSync: event.target.checked })}
      />
    </>
  )
}
