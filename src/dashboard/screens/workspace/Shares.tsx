import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import {
  connectionsApproveOutputShare,
  connectionsCreateOutputShare,
  connectionsRevokeOutputShare
} from "../../api/Endpoints.ts"
import { capsulesQuery, outputSharesQuery, outputsQuery } from "../../api/Queries.ts"
import type { OutputShare } from "../../api/Types.ts"
import { CapsuleOptions } from "../../app/CapsuleOptions.tsx"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"

const tones: Readonly<Record<OutputShare["status"], StatusTone>> = {
  pending: "attention",
  active: "good",
  revoked: "muted",
  unconfirmed: "attention"
}

const Revoke = ({ share, of }: { readonly share: OutputShare; readonly of: string }) => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button small of={of} tone="quiet" onClick={() => setAsking(true)}>
        {words.shareRevoke}
      </Button>
      {asking ? (
        <RemovalDialog
          title={words.shareRevokeTitle}
          action={words.shareRevoke}
          remove={(signal) => call(connectionsRevokeOutputShare, { signal, params: { shareId: share.id } })}
          list={outputSharesQuery(workspace.id).queryKey}
          onClose={() => setAsking(false)}
        >
          {words.shareRevokeText}
        </RemovalDialog>
      ) : null}
    </>
  )
}

const Row = ({ share }: { readonly share: OutputShare }) => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const { workspaces } = useBootstrap()
  const may = useMay()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const approve = useDecision({
    send: (signal) => call(connectionsApproveOutputShare, { signal, params: { shareId: share.id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: outputSharesQuery(workspace.id).queryKey })
  })
  const isOurs = share.fromWorkspaceId === workspace.id
  const other = isOurs ? share.toWorkspaceId : share.fromWorkspaceId
  const otherName = workspaces.find(({ id }) => id === other)?.displayName ?? other
  const producer = capsules.find(({ id }) => id === share.producerCapsuleId)?.name ?? share.producerCapsuleId
  const title = isOurs ? words.shareGiven(producer, otherName) : words.shareTaken(producer, otherName)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{title}</strong>
        <span className="muted">
          {share.outputs.map(({ alias, name }, index) => (
            <span key={name}>
              {index === 0 ? "" : ", "}
              <code>{name}</code>
              {alias === undefined ? null : (
                <>
                  {" → "}
                  <code>{alias}</code>
                </>
              )}
            </span>
          ))}
          {" · "}
          <Time at={share.createdAt} />
        </span>
        {approve.error === null ? null : <FaultNotice error={approve.error} />}
      </span>
      <Status tone={tones[share.status]}>{words.shareStatus[share.status]}</Status>
      {may("admin") && share.status !== "revoked" ? (
        <span className="row-end">
          {share.status === "pending" && !isOurs ? (
            <Button small of={title} tone="primary" busy={approve.isPending} onClick={() => approve.mutate()}>
              {words.shareApprove}
            </Button>
          ) : null}
          <Revoke share={share} of={title} />
        </span>
      ) : null}
    </li>
  )
}

/**
 * Offers Outputs of a Capsule to another Workspace. Lists only Outputs that are not sensitive, because sensitive Outputs cannot
 * be shared.
 */
const NewShare = ({ onClose }: { readonly onClose: () => void }) => {
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

/**
 * Outputs that one Workspace shares with another. The producer's Workspace offers them, the consumer's Workspace accepts them,
 * and either may revoke the share.
 */
export const Shares = () => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const may = useMay()
  const query = useQuery(outputSharesQuery(workspace.id))
  const [adding, setAdding] = useState(false)
  return (
    <Panel
      flush
      title={words.tabs.shares}
      about={words.sharesAbout}
      actions={
        may("admin") ? (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            {words.shareAdd}
          </Button>
        ) : null
      }
    >
      <Loadable query={query}>
        {(shares) =>
          shares.length === 0 ? (
            <Empty icon="graph" title={words.sharesNone}>
              <p>{words.sharesNoneText}</p>
            </Empty>
          ) : (
            <ul className="rows">
              {shares.map((share) => (
                <Row key={share.id} share={share} />
              ))}
            </ul>
          )
        }
      </Loadable>
      {adding ? <NewShare onClose={() => setAdding(false)} /> : null}
    </Panel>
  )
}
