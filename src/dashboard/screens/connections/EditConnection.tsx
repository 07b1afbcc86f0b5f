import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { connectionsUpdate } from "../../api/Endpoints.ts"
import { connectionsQuery } from "../../api/Queries.ts"
import type { Connection } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { AreaField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { changeBody, changeDraft, type ConnectionChangeDraft } from "./ConnectionChange.ts"
import type { UsedFrom } from "./UsedFrom.ts"
import { connectionWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

interface SectionProps {
  readonly connection: Connection
  readonly draft: ConnectionChangeDraft
  readonly set: (change: Partial<ConnectionChangeDraft>) => void
}

const froms: ReadonlyArray<UsedFrom> = ["owner", "admin", "member"]

const UseRule = ({ connection, draft, set }: SectionProps) => {
  const words = useWords(connectionWords)
  return (
    <fieldset className="feature">
      <legend>{words.use}</legend>
      <SelectField
        label={words.useRoles}
        value={draft.from}
        onChange={(event) => set({ from: froms.find((from) => from === event.target.value) ?? "admin" })}
      >
        {froms.map((from) => (
          <option key={from} value={from}>
            {words.usedBy[from]}
          </option>
        ))}
      </SelectField>
      <AreaField
        label={words.useRefs}
        helper={words.useRefsHelp}
        optional
        mono
        rows={2}
        spellCheck={false}
        value={draft.refs}
        onChange={(event) => set({ refs: event.target.value })}
      />
      {connection.kind === "provider" ? (
        <>
          <AreaField
            label={words.useModules}
            helper={words.useModulesHelp}
            optional
            mono
            rows={2}
            spellCheck={false}
            value={draft.modules}
            onChange={(event) => set({ modules: event.target.value })}
          />
          <AreaField
            label={words.useProjects}
            helper={words.useProjectsHelp}
            optional
            mono
            rows={2}
            spellCheck={false}
            value={draft.projectIds}
            onChange={(event) => set({ projectIds: event.target.value })}
          />
        </>
      ) : null}
    </fieldset>
  )
}

const NewValues = ({ connection, draft, set }: SectionProps) => {
  const words = useWords(connectionWords)
  if (connection.oauth !== undefined) return <p className="muted">{words.rotatedByHelper}</p>
  if (connection.envNames.length + connection.fileNames.length === 0) return null
  return (
    <fieldset className="feature">
      <legend>{words.rotate}</legend>
      <p className="muted">{words.rotateHelp}</p>
      {connection.envNames.map((name) => (
        <TextField
          key={name}
          label={name}
          type="password"
          autoComplete="new-password"
          value={draft.values[name] ?? ""}
          onChange={(event) => set({ values: { ...draft.values, [name]: event.target.value } })}
        />
      ))}
      {connection.fileNames.map((name) => (
        <AreaField
          key={name}
          label={name}
          mono
          rows={4}
          spellCheck={false}
          value={draft.files[name] ?? ""}
          onChange={(event) => set({ files: { ...draft.files, [name]: event.target.value } })}
        />
      ))}
    </fieldset>
  )
}

/** Renames, grants, extends or rotates a Connection. The dialog opens when it is mounted. */
export const EditConnection = ({
  connection,
  onClose
}: {
  readonly connection: Connection
  readonly onClose: () => void
}) => {
  const words = useWords(connectionWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState(() => changeDraft(connection))
  const set = (change: Partial<ConnectionChangeDraft>) => setDraft((before) => ({ ...before, ...change }))
  const update = useDecision({
    send: (signal) =>
      call(connectionsUpdate, { signal, params: { connectionId: connection.id }, body: changeBody(connection, draft) }),
    onSuccess: async ({ supersededRunIds, tested }) => {
      await queryClient.invalidateQueries({ queryKey: connectionsQuery(workspace.id).queryKey })
      toast(tested === undefined ? words.changed : words.rotated(words.testedAs[tested], supersededRunIds.length))
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.editTitle(connection.displayName)}
      action={terms.save}
      change={update}
      onSubmit={() => update.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.displayName}
        required
        maxLength={120}
        value={draft.displayName}
        onChange={(event) => set({ displayName: event.target.value })}
      />
      <TextField
        label={words.expiresAt}
        helper={words.expiresHelp}
        optional
        type="date"
        value={draft.expiresOn}
        onChange={(event) => set({ expiresOn: event.target.value })}
      />
      <UseRule connection={connection} draft={draft} set={set} />
      <NewValues connection={connection} draft={draft} set={set} />
    </FormDialog>
  )
}
