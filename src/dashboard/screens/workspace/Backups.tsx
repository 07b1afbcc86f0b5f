import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { backupsArchive, backupsRestorePlan, workspacesCreateBackup } from "../../api/Endpoints.ts"
import { backupsQuery, capsulesQuery } from "../../api/Queries.ts"
import type { Backup } from "../../api/Types.ts"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { Empty, FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { Time } from "../../ui/Time.tsx"
import { bytes, exactTime, shortDigest } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { backupWords } from "./BackupWords.ts"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"
import { Dialog } from "../../ui/Dialog.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"

const saveFile = (content: unknown, name: string): void => {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content)], { type: "application/json" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Asks which Capsule to restore if the backup contains several, and links to the Run in which the restore is reviewed. */
const RestoreDialog = ({ backup, onClose }: { readonly backup: Backup; readonly onClose: () => void }) => {
  const words = useWords(backupWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key] = useState(newIdempotencyKey)
  const capsules = (useQuery(capsulesQuery(workspace.id)).data ?? []).filter(({ status }) => isInService(status))
  const [chosen, setChosen] = useState("")
  const capsuleId = backup.capsuleId ?? (chosen === "" ? capsules[0]?.id : chosen)
  const restore = useDecision({
    send: (signal) =>
      call(backupsRestorePlan, {
        signal,
        params: { backupId: backup.id },
        body: capsuleId === undefined ? {} : { capsuleId },
        idempotencyKey: key
      }),
    onSuccess: ({ run }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      onClose()
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
  return (
    <Dialog title={words.restoreTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (capsuleId !== undefined && !restore.isPending) restore.mutate()
        }}
      >
        <p>{words.restoreText}</p>
        {backup.capsuleId === undefined ? (
          <SelectField
            label={words.capsule}
            value={capsuleId ?? ""}
            onChange={(event) => setChosen(event.target.value)}
          >
            {capsules.map(({ environment, id, name }) => (
              <option key={id} value={id}>
                {name} · {environment}
              </option>
            ))}
          </SelectField>
        ) : null}
        {restore.error === null ? null : <FaultNotice error={restore.error} />}
        <div className="form-actions">
          <Button tone="primary" type="submit" disabled={capsuleId === undefined} busy={restore.isPending}>
            {words.review}
          </Button>
          <Button tone="quiet" onClick={onClose}>
            {terms.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** An owner's actions on a backup. */
const BackupActions = ({ backup, name }: { readonly backup: Backup; readonly name: string }) => {
  const of = `${name} · ${exactTime(useLanguage(), backup.createdAt)}`
  const words = useWords(backupWords)
  const [restoring, setRestoring] = useState(false)
  const download = useDecision({
    send: (signal) => call(backupsArchive, { signal, params: { backupId: backup.id } }),
    onSuccess: (archive) => saveFile(archive, `${backup.id}.svc-backup.json`)
  })
  return (
    <>
      {download.error === null ? null : <FaultNotice error={download.error} />}
      <Button small of={of} icon="download" busy={download.isPending} onClick={() => download.mutate()}>
        {words.download}
      </Button>
      <Button small of={of} onClick={() => setRestoring(true)}>
        {words.restore}
      </Button>
      {restoring ? <RestoreDialog backup={backup} onClose={() => setRestoring(false)} /> : null}
    </>
  )
}

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
