import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { post } from "../../api/Client.ts"
import { connectionsQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Run, Source } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { repositoryName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import type { DraftState, InstallDraft } from "./Draft.ts"
import { installWords } from "./Words.ts"

const api = "/api/v1"

const isSame = (source: Source, draft: InstallDraft): boolean =>
  source.url === draft.url.trim() &&
  source.defaultRef === draft.ref.trim() &&
  source.defaultPath === draft.path.trim() &&
  (source.authConnectionId ?? "") === draft.authConnectionId &&
  source.status !== "disabled"

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
    mutationFn: async () => {
      const sources = await queryClient.fetchQuery({ ...sourcesQuery(workspace.id), staleTime: 0 })
      const known = sources.find((source) => isSame(source, draft))
      const source =
        known ??
        (
          await post<{ source: Source }>(`${api}/sources`, {
            workspaceId: workspace.id,
            name: repositoryName(draft.url.trim()).slice(0, 80),
            url: draft.url.trim(),
            defaultRef: draft.ref.trim(),
            defaultPath: draft.path.trim(),
            ...(draft.authConnectionId === "" ? {} : { authConnectionId: draft.authConnectionId })
          })
        ).source
      const { run } = await post<{ run: Run }>(`${api}/sources/${source.id}/sync`, { intent: "manual_plan" })
      return { sourceId: source.id, syncRunId: run.id }
    },
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
