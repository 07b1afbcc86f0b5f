import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { connectionsApproveOutputShare, connectionsRevokeOutputShare } from "../../api/Endpoints.ts"
import { capsulesQuery, outputSharesQuery } from "../../api/Queries.ts"
import type { OutputShare } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { NewShare } from "./NewShare.tsx"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

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
