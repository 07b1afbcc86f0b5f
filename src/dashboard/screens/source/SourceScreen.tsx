import "../../app/Kit.ts"
import { LoadablePage } from "../../app/LoadablePage.tsx"
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import type { Body } from "../../api/Declarations.ts"
import { sourcesSync, sourcesUpdate, sourcesRemove } from "../../api/Endpoints.ts"
import { capsulesQuery, connectionsQuery, snapshotsQuery, sourceQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Capsule, Source, SourceLane, SourceSnapshot } from "../../api/Types.ts"
import { appWords } from "../../app/Words.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { Empty, FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { Facts, Page, Panel } from "../../ui/Layout.tsx"
import { MorePages } from "../../ui/MorePages.tsx"
import { SourceStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { bytes, repositoryName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { type SourceDraft, SourceFields } from "../sources/SourceFields.tsx"
import { sourceWords } from "../sources/Words.ts"
import { Webhook } from "./Webhook.tsx"
import { Commit } from "../../ui/Commit.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { FailureReason } from "../../ui/FailureReason.tsx"

/** Removes a Source that no existing Capsule uses. */
const RemoveSource = ({ source, capsules }: { readonly source: Source; readonly capsules: ReadonlyArray<Capsule> }) => {
  const words = useWords(sourceWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const used = capsules.some(({ status }) => !isEnded(status))
  return (
    <Panel title={words.removeTitle} tone="danger">
      <p>{used ? words.removeUsed : words.removeText}</p>
      {used ? null : (
        <Button tone="danger" icon="trash" onClick={() => setAsking(true)}>
          {words.remove}
        </Button>
      )}
      {asking ? (
        <RemovalDialog
          title={words.removeAsk(source.name)}
          action={words.remove}
          remove={(signal) => call(sourcesRemove, { signal, params: { sourceId: source.id } })}
          onRemoved={() => navigate({ to: "/w/$workspace/sources", params: { workspace: workspace.handle } })}
          list={sourcesQuery(source.workspaceId).queryKey}
          onClose={() => setAsking(false)}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
    </Panel>
  )
}

const useUpdate = (source: Source) => {
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  return useDecision({
    send: (signal, body: Body<typeof sourcesUpdate>) =>
      call(sourcesUpdate, { signal, params: { sourceId: source.id }, body }),
    onSuccess: () => toast(terms.saved),
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: sourceQuery(source.id).queryKey }),
        queryClient.invalidateQueries({ queryKey: sourcesQuery(source.workspaceId).queryKey })
      ])
  })
}

const policies: ReadonlyArray<Source["pullRequests"]> = ["off", "static", "own_branches"]

/** Selects the Connection used to write comments. Shown once the Workspace has a Connection to a forge. */
const ForgeField = ({ value, onChange }: { readonly value: string; readonly onChange: (id: string) => void }) => {
  const words = useWords(sourceWords)
  const workspace = useWorkspace()
  const connections = useQuery(connectionsQuery(workspace.id)).data ?? []
  const forges = connections.filter(
    ({ id, kind, status }) => kind === "forge" && (status !== "revoked" || id === value)
  )
  if (forges.length === 0) return null
  return (
    <SelectField
      label={words.forge}
      helper={words.forgeHelp}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{words.forgeNone}</option>
      {forges.map(({ displayName, id, origins = [] }) => (
        <option key={id} value={id}>
          {displayName} ({origins.join(", ")})
        </option>
      ))}
    </SelectField>
  )
}

const Edit = ({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) => {
  const words = useWords(sourceWords)
  const terms = useWords(vocabulary)
  const update = useUpdate(source)
  const [draft, setDraft] = useState<SourceDraft>({
    name: source.name,
    defaultRef: source.defaultRef,
    defaultPath: source.defaultPath,
    authConnectionId: source.authConnectionId ?? "",
    autoSync: source.autoSync
  })
  const may = useMay()
  const before = source.reviewedRefs.join(" ")
  const [reviewed, setReviewed] = useState(before)
  const [pullRequests, setPullRequests] = useState(source.pullRequests)
  const [forge, setForge] = useState(source.forgeConnectionId ?? "")
  return (
    <Dialog title={words.edit} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          update.mutate(
            {
              ...draft,
              authConnectionId: draft.authConnectionId === "" ? null : draft.authConnectionId,
              ...(pullRequests === source.pullRequests ? {} : { pullRequests }),
              ...(forge === (source.forgeConnectionId ?? "") ? {} : { forgeConnectionId: forge === "" ? null : forge }),
              ...(reviewed === before ? {} : { reviewedRefs: reviewed.split(/\s+/).filter((ref) => ref !== "") })
            },
            { onSuccess: onClose }
          )
        }}
      >
        <SourceFields url={source.url} draft={draft} onChange={setDraft} />
        {may("admin") ? (
          <>
            <TextField
              label={words.reviewedRefs}
              helper={words.reviewedRefsHelp}
              mono
              spellCheck={false}
              value={reviewed}
              onChange={(event) => setReviewed(event.target.value)}
            />
            <SelectField
              label={words.pullRequests}
              helper={words.pullRequestsHelp}
              value={pullRequests}
              onChange={(event) =>
                setPullRequests(policies.find((policy) => policy === event.target.value) ?? pullRequests)
              }
            >
              {policies.map((policy) => (
                <option key={policy} value={policy}>
                  {words.pullRequestPolicy[policy]}
                </option>
              ))}
            </SelectField>
            <ForgeField value={forge} onChange={setForge} />
          </>
        ) : null}
        {update.error === null ? null : <FaultNotice error={update.error} />}
        <div className="form-actions">
          <Button tone="primary" type="submit" busy={update.isPending}>
            {terms.save}
          </Button>
          <Button
            busy={update.isPending}
            onClick={() =>
              update.mutate({ status: source.status === "disabled" ? "active" : "disabled" }, { onSuccess: onClose })
            }
          >
            {source.status === "disabled" ? words.enable : words.disable}
          </Button>
          <Button tone="quiet" onClick={onClose}>
            {terms.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const SnapshotRow = ({ snapshot }: { readonly snapshot: SourceSnapshot }) => {
  const words = useWords(sourceWords)
  const workspace = useWorkspace()
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <Commit id={snapshot.resolvedCommit} description={snapshot.commitDescription} gitAddress={snapshot.url} />
          <span className="tag">{snapshot.ref}</span>
        </span>
        <span className="muted">
          {words.files(snapshot.fileCount, bytes(snapshot.archiveSizeBytes))} ·{" "}
          {words.manifest[snapshot.repositoryManifest.status]}
          {snapshot.repositoryManifest.reason === undefined ? "" : `: ${snapshot.repositoryManifest.reason}`}
          {snapshot.omitted.length === 0 ? "" : ` · ${words.omitted(snapshot.omitted.length)}`}
        </span>
      </span>
      <span className="row-end">
        <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: snapshot.createdByRunId }}>
          <Time at={snapshot.createdAt} />
        </Link>
      </span>
    </li>
  )
}

const LaneRow = ({
  lane,
  gitAddress,
  isDefault
}: {
  readonly lane: SourceLane
  readonly gitAddress: string
  readonly isDefault: boolean
}) => {
  const words = useWords(sourceWords)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <code>{lane.ref}</code>
          {lane.path === "." ? null : <span className="muted"> {lane.path}</span>}{" "}
          {isDefault ? <span className="tag">{words.laneDefault}</span> : null}
        </span>
        {lane.commit === undefined ? null : (
          <Commit id={lane.commit} description={lane.commitDescription} gitAddress={gitAddress} />
        )}
        <span className="muted">
          {lane.lastLookAt === undefined ? (
            words.laneNeverLooked
          ) : (
            <>
              {words.laneLooked} <Time at={lane.lastLookAt} />
            </>
          )}
          {lane.lastChangeAt === undefined ? null : (
            <>
              {" · "}
              {words.laneChanged} <Time at={lane.lastChangeAt} />
            </>
          )}
          {" · "}
          {lane.nextLookAt === undefined ? (
            words.laneNotScheduled
          ) : (
            <>
              {words.laneNext} <Time at={lane.nextLookAt} />
            </>
          )}
        </span>
        {lane.error === undefined ? null : (
          <Notice tone="bad" title={words.laneFailed}>
            <FailureReason error={lane.error} />
            <p className="notice-meta">
              <code>{lane.error.code}</code> · {words.laneFailedSince} <Time at={lane.error.since} />
            </p>
          </Notice>
        )}
      </span>
    </li>
  )
}

/** The commit of each used ref, and the time of its last check. The default ref is first. */
const Lanes = ({ lanes, gitAddress }: { readonly lanes: ReadonlyArray<SourceLane>; readonly gitAddress: string }) => {
  const words = useWords(sourceWords)
  return (
    <Panel flush title={words.lanes} about={words.lanesAbout}>
      <ul className="rows">
        {lanes.map((lane, index) => (
          <LaneRow key={`${lane.ref} ${lane.path}`} lane={lane} gitAddress={gitAddress} isDefault={index === 0} />
        ))}
      </ul>
    </Panel>
  )
}

const Content = ({ source }: { readonly source: Source }) => {
  const words = useWords(sourceWords)
  const terms = useWords(vocabulary)
  const app = useWords(appWords)
  const workspace = useWorkspace()
  const may = useMay()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [editing, setEditing] = useState(false)
  const snapshots = useInfiniteQuery(snapshotsQuery(source.id))
  const capsules = (useQuery(capsulesQuery(workspace.id)).data ?? []).filter(({ sourceId }) => sourceId === source.id)
  const sync = useDecision({
    send: (signal) => call(sourcesSync, { signal, params: { sourceId: source.id }, body: { intent: "observe" } }),
    onSuccess: ({ run }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
  return (
    <Page
      title={source.name}
      trail={
        <Link to="/w/$workspace/sources" params={{ workspace: workspace.handle }}>
          {app.sources}
        </Link>
      }
      beside={<SourceStatus status={source.status} />}
      actions={
        may("member") && source.removedAt === undefined ? (
          <>
            <Button onClick={() => setEditing(true)}>{words.edit}</Button>
            <Button
              tone="primary"
              icon="sync"
              busy={sync.isPending}
              disabled={source.status === "disabled"}
              onClick={() => sync.mutate()}
            >
              {words.sync}
            </Button>
          </>
        ) : null
      }
    >
      {sync.error === null ? null : <FaultNotice error={sync.error} />}
      <div className="split">
        <div className="split-main">
          {source.removedAt === undefined ? null : (
            <Notice tone="info" title={words.removedTitle}>
              <p>{words.removedText}</p>
            </Notice>
          )}
          {source.lanes === undefined || source.removedAt !== undefined ? null : (
            <Lanes lanes={source.lanes} gitAddress={source.url} />
          )}
          <Panel flush title={words.snapshots}>
            <Loadable query={snapshots}>
              {({ pages }) => {
                const found = pages.flatMap((page) => page.snapshots)
                return found.length === 0 ? (
                  <Empty icon="source" title={words.snapshotsNone}>
                    <p>{words.snapshotsNoneText}</p>
                  </Empty>
                ) : (
                  <ul className="rows">
                    {found.map((snapshot) => (
                      <SnapshotRow key={snapshot.id} snapshot={snapshot} />
                    ))}
                  </ul>
                )
              }}
            </Loadable>
          </Panel>
          <MorePages query={snapshots} />
          {source.removedAt === undefined ? <Webhook source={source} /> : null}
          {may("member") && source.removedAt === undefined ? (
            <RemoveSource source={source} capsules={capsules} />
          ) : null}
        </div>
        <aside className="split-side" aria-label={words.facts}>
          <Panel title={words.facts}>
            <Facts
              items={[
                [words.url, <CopyText key="url" text={source.url} shown={repositoryName(source.url)} />],
                [words.ref, <code key="ref">{source.defaultRef}</code>],
                [words.path, <code key="path">{source.defaultPath}</code>],
                [
                  words.reviewedRefs,
                  source.reviewedRefs.length === 0 ? undefined : (
                    <code key="reviewed">{source.reviewedRefs.join(" ")}</code>
                  )
                ],
                [
                  words.pullRequests,
                  <span key="pull-requests" className="stack">
                    {words.pullRequestPolicy[source.pullRequests]}
                    <Link
                      to="/w/$workspace/pull-requests"
                      params={{ workspace: workspace.handle }}
                      search={{ source: source.id }}
                    >
                      {words.openPullRequests}
                    </Link>
                  </span>
                ],
                [words.autoSync, source.autoSync ? terms.yes : terms.no],
                [
                  words.lastSynced,
                  source.lastSyncedAt === undefined ? words.neverSynced : <Time key="synced" at={source.lastSyncedAt} />
                ],
                [
                  words.capsules,
                  capsules.length === 0 ? (
                    terms.none
                  ) : (
                    <ul key="capsules" className="plain-list">
                      {capsules.slice(0, 10).map((capsule) => (
                        <li key={capsule.id}>
                          <Link
                            to="/w/$workspace/capsules/$capsuleId"
                            params={{ workspace: workspace.handle, capsuleId: capsule.id }}
                          >
                            {capsule.name} · {capsule.environment}
                          </Link>{" "}
                          <span className="muted">{capsule.environment}</span>
                        </li>
                      ))}
                    </ul>
                  )
                ]
              ]}
            />
          </Panel>
        </aside>
      </div>
      {editing ? <Edit source={source} onClose={() => setEditing(false)} /> : null}
    </Page>
  )
}

export const SourceScreen = () => {
  const { sourceId } = useParams({ from: "/w/$workspace/sources/$sourceId" })
  const query = useQuery(sourceQuery(sourceId))
  return <LoadablePage query={query}>{(source) => <Content source={source} />}</LoadablePage>
}
