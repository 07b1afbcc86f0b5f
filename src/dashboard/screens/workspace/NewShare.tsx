import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { connectionsCreateOutputShare } from "../../api/Endpoints.ts"
import { capsulesQuery, outputSharesQuery, outputsQuery } from "../../api/Queries.ts"
import { CapsuleOptions } from "../../app/CapsuleOptions.tsx"
import { useBootstrap, useWorkspace } from "../../app/Workspace.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { useWords } from "../../words/Words.ts"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

/**
 * Offers Outputs of a Capsule to another Workspace. Lists only Outputs that are not sensitive, because sensitive Outputs cannot
 * be shared.
 */
export const NewShare = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const { workspaces } = useBootstrap()
  const queryClient = useQueryClient()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const [producerCapsuleId, setProducer] = useState("")
  const [toWorkspaceId, setReceiver] = useState("")
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const outputs = useQuery({ ...outputsQuery(producerCapsuleId), enabled: producerCapsuleId !== "" }).data
  const create = useDecision({
    send: (signal) =>
      call(connectionsCreateOutputShare, {
        signal,
        body: {
          fromWorkspaceId: workspace.id,
          toWorkspaceId: toWorkspaceId.trim(),
          producerCapsuleId,
          outputs: [...chosen].map((name) => ({ name }))
        }
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: outputSharesQuery(workspace.id).queryKey })
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.shareAdd}
      action={words.shareDo}
      incomplete={chosen.size === 0}
      change={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <SelectField
        label={words.shareCapsule}
        required
        value={producerCapsuleId}
        onChange={(event) => {
          setProducer(event.target.value)
          setChosen(new Set())
        }}
      >
        <CapsuleOptions capsules={capsules} />
      </SelectField>
      {outputs === undefined ? null : (
        <fieldset className="choices">
          <legend>{words.shareOutputs}</legend>
          {outputs.length === 0 ? <p className="muted">{words.shareOutputsNone}</p> : null}
          {outputs.map(({ name }) => (
            <CheckField
              key={name}
              label={name}
              checked={chosen.has(name)}
              onChange={(event) =>
                setChosen(
                  new Set(event.target.checked ? [...chosen, name] : [...chosen].filter((each) => each !== name))
                )
              }
            />
          ))}
        </fieldset>
      )}
      <TextField
        label={words.shareTo}
        helper={words.shareToHelp}
        mono
        required
        autoComplete="off"
        spellCheck={false}
        list="share-workspaces"
        value={toWorkspaceId}
        onChange={(event) => setReceiver(event.target.value)}
      />
      <datalist id="share-workspaces">
        {workspaces
          .filter(({ id }) => id !== workspace.id)
          .map(({ displayName, id }) => (
            <option key={id} value={id}>
              {displayName}
            </option>
          ))}
      </datalist>
    </FormDialog>
  )
}
