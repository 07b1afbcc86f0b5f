import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { connectionsQuery, sourcesQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import type { DraftState } from "./Draft.ts"
import { readSource } from "./ReadSource.ts"
import { installWords } from "./Words.ts"

/** Where the module comes from. Reading it syncs the Source, which pins one commit. */
export const SourceStep = ({
  draft,
  change,
  reading
}: Pick<DraftState, "draft" | "change"> & { readonly reading: boolean }) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  const gitConnections = connections.filter(({ kind, status }) => kind !== "provider" && status !== "revoked")
  const read = useMutation({
    mutationFn: () =>
      readSource(queryClient, workspace.id, {
        url: draft.url.trim(),
        ref: draft.ref.trim(),
        path: draft.path.trim(),
        authConnectionId: draft.authConnectionId
      }),
    onSuccess: (found) => change({ ...found, modulePath: undefined, reportId: undefined }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sourcesQuery(workspace.id).queryKey })
  })
  const reset = { sourceId: undefined, syncRunId: undefined, modulePath: undefined, reportId: undefined }
  const done = draft.syncRunId !== undefined
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!reading) read.mutate()
      }}
    >
      <TextField
        label={words.url}
        helper={words.urlHelp}
        type="url"
        mono
        required
        autoComplete="off"
        spellCheck={false}
        placeholder="https://github.com/example/infrastructure.git"
        value={draft.url}
        onChange={(event) => change({ ...reset, url: event.target.value })}
      />
      <div className="form-pair">
        <TextField
          label={words.ref}
          helper={words.refHelp}
          mono
          required
          autoComplete="off"
          spellCheck={false}
          value={draft.ref}
          onChange={(event) => change({ ...reset, ref: event.target.value })}
        />
        <TextField
          label={words.path}
          helper={words.pathHelp}
          mono
          required
          autoComplete="off"
          spellCheck={false}
          value={draft.path}
          onChange={(event) => change({ ...reset, path: event.target.value })}
        />
      </div>
      {gitConnections.length === 0 ? null : (
        <SelectField
          label={words.auth}
          value={draft.authConnectionId}
          onChange={(event) => change({ ...reset, authConnectionId: event.target.value })}
        >
          <option value="">{words.authNone}</option>
          {gitConnections.map((connection) => (
            <option key={connection.id} value={connection.id}>
              {connection.displayName}
            </option>
          ))}
        </SelectField>
      )}
      {read.error === null ? null : <FaultNotice error={read.error} />}
      <div className="form-actions">
        <Button type="submit" tone={done ? "plain" : "primary"} icon="source" busy={read.isPending || reading}>
          {reading ? words.reading : done ? words.readAgain : words.read}
        </Button>
      </div>
    </form>
  )
}
