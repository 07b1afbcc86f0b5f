import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { call } from "../../api/Call.ts"
import { workspacesCreateBackup } from "../../api/Endpoints.ts"
import { backupsQuery, capsulesQuery } from "../../api/Queries.ts"
import type { Backup } from "../../api/Types.ts"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { Empty, FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Time } from "../../ui/Time.tsx"
import { bytes, shortDigest } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { BackupActions } from "./BackupActions.tsx"
import { backupWords } from "./BackupWords.ts"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const Row = ({ backup }: { readonly backup: Backup }) => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const may = useMay()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const { capsuleId } = backup
  const name = capsules.find(({ id }) => id === capsuleId)?.name ?? capsuleId ?? words.backupAll
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        {capsuleId === undefined ? (
          <strong>{name}</strong>
        ) : (
          <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId }}>
            <strong>{name}</strong>
          </Link>
        )}
        <span className="muted">
          <Time at={backup.createdAt} /> · {bytes(backup.sizeBytes)} ·{" "}
          <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: backup.createdByRunId }}>
            {words.backupRun}
          </Link>
        </span>
      </span>
      <CopyText text={backup.digest} shown={shortDigest(backup.digest)} />
      {may("owner") ? <BackupActions backup={backup} name={name} /> : null}
    </li>
  )
}

/** Backups of the whole installation, for its operators. */
const ServerBackups = () => {
  const words = useWords(backupWords)
  const { serverBackups } = useBootstrap()
  if (serverBackups === undefined) return null
  const { newestAt } = serverBackups
  return (
    <Panel title={words.server} about={words.serverAbout}>
      {newestAt === undefined ? (
        <p>{words.serverNone}</p>
      ) : (
        <Facts items={[[words.serverNewest, <Time key="newest" at={newestAt} />]]} />
      )}
    </Panel>
  )
}

export const Backups = () => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const query = useInfiniteQuery(backupsQuery(workspace.id))
  const create = useDecision({
    send: (signal) => call(workspacesCreateBackup, { signal, params: { workspaceId: workspace.id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: backupsQuery(workspace.id).queryKey })
  })
  return (
    <>
      {create.error === null ? null : <FaultNotice error={create.error} />}
      <Panel
        flush
        title={words.tabs.backups}
        about={words.backupsAbout}
        actions={
          may("admin") ? (
            <Button small icon="plus" busy={create.isPending} onClick={() => create.mutate()}>
              {words.backUp}
            </Button>
          ) : null
        }
      >
        <Loadable query={query}>
          {({ pages }) => {
            const backups = pages.flatMap((page) => page.backups)
            return backups.length === 0 ? (
              <Empty icon="lock" title={words.backupsNone}>
                <p>{words.backupsNoneText}</p>
              </Empty>
            ) : (
              <ul className="rows">
                {backups.map((backup) => (
                  <Row key={backup.id} backup={backup} />
                ))}
              </ul>
            )
          }}
        </Loadable>
      </Panel>
      <MorePages query={query} />
      <ServerBackups />
    </>
  )
}
