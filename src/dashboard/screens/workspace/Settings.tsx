import { useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import type { Body } from "../../api/Declarations.ts"
import {
  workspacesDriftCheck,
  workspacesPlanUpdate,
  workspacesSetAutomation,
  workspacesUpdate
} from "../../api/Endpoints.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import "../../app/Kit.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { DriftCheckField } from "../../forms/DriftCheckField.tsx"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

interface FleetProps {
  readonly title: string
  readonly text: string
  readonly label: string
  readonly line: typeof workspacesPlanUpdate | typeof workspacesDriftCheck
}

/** A button that starts Runs for many Capsules. */
const Fleet = ({ title, text, label, line }: FleetProps) => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const start = useDecision({
    send: (signal) => call(line, { signal, params: { workspaceId: workspace.id } }),
    onSuccess: ({ runGroup, runs }) => {
      toast(words.started(runs.length))
      void queryClient.invalidateQueries({ queryKey: ["workspace", workspace.id] })
      // The update's page also reports the Capsules that were skipped.
      if (runGroup.waves !== undefined) {
        void navigate({
          to: "/w/$workspace/updates/$groupId",
          params: { workspace: workspace.handle, groupId: runGroup.id }
        })
      }
    }
  })
  return (
    <Panel title={title}>
      <p>{text}</p>
      {start.error === null ? null : <FaultNotice error={start.error} />}
      {start.data === undefined || start.data.skipped.length === 0 ? null : (
        <Notice tone="warn" title={words.skipped}>
          <ul>
            {start.data.skipped.map(({ capsuleId, message }) => (
              <li key={capsuleId}>
                <Link to="/w/$workspace/capsules/$capsuleId" params={{ workspace: workspace.handle, capsuleId }}>
                  {capsuleId}
                </Link>
                : {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <Button busy={start.isPending} onClick={() => start.mutate()}>
        {label}
      </Button>
    </Panel>
  )
}

/** The setting that enables or disables all Runs in the Workspace that were not started by a person. */
const AutomationSwitch = () => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const [reason, setReason] = useState("")
  const isPaused = workspace.automationPause !== undefined
  const change = useDecision({
    send: (signal, body: { readonly paused: boolean; readonly reason?: string }) =>
      call(workspacesSetAutomation, { signal, params: { workspaceId: workspace.id }, body }),
    onSuccess: () => {
      setReason("")
      toast(terms.saved)
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: ["workspace", workspace.id] })
      ])
  })
  return (
    <Panel title={words.automation}>
      <p>{words.automationText}</p>
      {change.error === null ? null : <FaultNotice error={change.error} />}
      {may("admin") ? (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault()
            const why = reason.trim()
            change.mutate({ paused: !isPaused, ...(isPaused || why === "" ? {} : { reason: why }) })
          }}
        >
          {isPaused ? null : (
            <TextField
              label={words.automationReason}
              helper={words.automationReasonHelp}
              optional
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
          <div className="form-actions">
            <Button type="submit" tone={isPaused ? "primary" : "plain"} busy={change.isPending}>
              {isPaused ? words.automationResume : words.automationPause}
            </Button>
          </div>
        </form>
      ) : null}
    </Panel>
  )
}

export const Settings = () => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const [name, setName] = useState(workspace.displayName)
  const update = useDecision({
    send: (signal, body: Body<typeof workspacesUpdate>) =>
      call(workspacesUpdate, { signal, params: { workspaceId: workspace.id }, body }),
    onSuccess: () => toast(terms.saved),
    onSettled: () => queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
  })
  const isArchived = workspace.archivedAt !== undefined
  return (
    <div className="stack">
      {isArchived ? <Notice tone="info">{words.archived}</Notice> : null}
      {update.error === null ? null : <FaultNotice error={update.error} />}
      <Panel title={words.tabs.settings}>
        <form
          className="form form-inline"
          onSubmit={(event) => {
            event.preventDefault()
            update.mutate({ displayName: name.trim() })
          }}
        >
          <TextField
            label={words.name}
            required
            maxLength={120}
            disabled={!may("owner")}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          {may("owner") ? (
            <Button
              type="submit"
              busy={update.isPending}
              disabled={name.trim() === "" || name.trim() === workspace.displayName}
            >
              {terms.save}
            </Button>
          ) : null}
        </form>
        <Facts
          columns
          items={[
            [words.handle, <code key="handle">{workspace.handle}</code>],
            [words.type, words.types[workspace.type]],
            [words.created, <Time key="created" at={workspace.createdAt} />]
          ]}
        />
      </Panel>
      <AutomationSwitch />
      <Panel title={words.driftSchedule}>
        <DriftCheckField
          mayInherit={false}
          choice={workspace.driftChecks}
          disabled={!may("owner")}
          busy={update.isPending}
          onChoose={(driftChecks) => update.mutate({ driftChecks })}
        />
      </Panel>
      {may("member") ? (
        <>
          <Fleet title={words.update} text={words.updateText} label={words.updateAll} line={workspacesPlanUpdate} />
          <Fleet title={words.drift} text={words.driftText} label={words.driftAll} line={workspacesDriftCheck} />
        </>
      ) : null}
      {may("owner") && workspace.type !== "personal" ? (
        <Panel title={words.archive} tone="danger">
          <p>{words.archiveText}</p>
          <Button busy={update.isPending} onClick={() => update.mutate({ archived: !isArchived })}>
            {isArchived ? words.unarchive : words.archiveDo}
          </Button>
        </Panel>
      ) : null}
    </div>
  )
}
