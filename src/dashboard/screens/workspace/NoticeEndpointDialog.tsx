import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { noticesCreateEndpoint, noticesUpdateEndpoint } from "../../api/Endpoints.ts"
import { noticeEndpointsQuery } from "../../api/NoticeQueries.ts"
import type { NoticeEndpoint, NoticeKind } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { useDecision } from "../../ui/Decision.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { NoticeKindFields } from "./NoticeKindFields.tsx"
import { noticeWords } from "./NoticeWords.ts"
import { useProjects } from "./PlaceFields.tsx"

/** The kinds that require a person's action. */
const usualKinds: ReadonlyArray<NoticeKind> = [
  "run.waiting_approval",
  "run.failed",
  "run.unknown",
  "drift.found",
  "source.broken",
  "connection.failing",
  "backup.failed"
]

const formats = ["json", "slack", "teams"] as const

/** Changes an endpoint, or adds a new endpoint and shows its secret once. */
export const NoticeEndpointDialog = ({
  endpoint,
  onClose
}: {
  readonly endpoint?: NoticeEndpoint | undefined
  readonly onClose: () => void
}) => {
  const words = useWords(noticeWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const projects = useProjects()
  const [name, setName] = useState(endpoint?.name ?? "")
  const [address, setAddress] = useState("")
  const [format, setFormat] = useState<NoticeEndpoint["format"]>(endpoint?.format ?? "json")
  const [kinds, setKinds] = useState<ReadonlyArray<NoticeKind>>(endpoint?.kinds ?? usualKinds)
  const [projectIds, setProjectIds] = useState<ReadonlyArray<string>>(endpoint?.filter.projectIds ?? [])
  const [environments, setEnvironments] = useState((endpoint?.filter.environments ?? []).join(", "))
  const save = useDecision({
    send: async (signal): Promise<string | undefined> => {
      const chosen = projects.map(({ id }) => id).filter((id) => projectIds.includes(id))
      const named = environments
        .split(",")
        .map((each) => each.trim())
        .filter((each) => each !== "")
      const filter = {
        ...(chosen.length === 0 ? {} : { projectIds: chosen }),
        ...(named.length === 0 ? {} : { environments: named }),
        ...(endpoint?.filter.capsuleIds === undefined ? {} : { capsuleIds: endpoint.filter.capsuleIds })
      }
      const params = { workspaceId: workspace.id }
      if (endpoint === undefined) {
        const body = { name: name.trim(), address: address.trim(), format, kinds, filter }
        const answer = await call(noticesCreateEndpoint, { signal, params, body })
        return "secret" in answer ? answer.secret : undefined
      }
      const moved = address.trim() === "" ? {} : { address: address.trim() }
      const body = { name: name.trim(), kinds, filter, ...moved }
      await call(noticesUpdateEndpoint, { signal, params: { ...params, endpointId: endpoint.id }, body })
      return undefined
    },
    onSuccess: (secret) => {
      if (secret === undefined) onClose()
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: noticeEndpointsQuery(workspace.id).queryKey })
  })
  if (save.data !== undefined) {
    return (
      <SecretOnce
        title={words.secretTitle}
        text={words.secretText}
        secret={save.data}
        done={words.done}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title={endpoint === undefined ? words.addTitle : words.editTitle(endpoint.name)}
      action={endpoint === undefined ? words.add : terms.save}
      incomplete={kinds.length === 0}
      change={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.name}
        required
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={endpoint === undefined ? words.address : words.newAddress}
        helper={endpoint === undefined ? words.addressHelp : words.newAddressHelp}
        type="url"
        required={endpoint === undefined}
        optional={endpoint !== undefined}
        maxLength={2048}
        autoComplete="off"
        value={address}
        onChange={(event) => setAddress(event.target.value)}
      />
      {endpoint === undefined ? (
        <SelectField
          label={words.format}
          value={format}
          onChange={(event) => setFormat(formats.find((each) => each === event.target.value) ?? "json")}
        >
          {formats.map((each) => (
            <option key={each} value={each}>
              {words.formats[each]}
            </option>
          ))}
        </SelectField>
      ) : null}
      <NoticeKindFields legend={words.kinds} chosen={kinds} onChange={setKinds} />
      {projects.length > 1 ? (
        <fieldset className="feature">
          <legend>{words.projects}</legend>
          <div className="field-help">{words.projectsHelp}</div>
          {projects.map((project) => (
            <CheckField
              key={project.id}
              label={project.name}
              checked={projectIds.includes(project.id)}
              onChange={(event) =>
                setProjectIds(
                  event.target.checked ? [...projectIds, project.id] : projectIds.filter((id) => id !== project.id)
                )
              }
            />
          ))}
        </fieldset>
      ) : null}
      <TextField
        label={words.environments}
        helper={words.environmentsHelp}
        optional
        autoCapitalize="off"
        spellCheck={false}
        value={environments}
        onChange={(event) => setEnvironments(event.target.value)}
      />
    </FormDialog>
  )
}
