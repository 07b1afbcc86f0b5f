import "../../app/Kit.ts"
import { LoadablePage } from "../../app/LoadablePage.tsx"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { runsCancelGroup } from "../../api/Endpoints.ts"
import { runGroupQuery } from "../../api/Queries.ts"
import type { Run, RunGroup, RunWave, WaveMember } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { CommitLine } from "../../ui/Commit.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { japaneseReason } from "../../words/FailureReasons.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { updateWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const memberTone: Readonly<Record<WaveMember["state"], StatusTone>> = {
  waiting: "neutral",
  planning: "busy",
  waiting_approval: "attention",
  approved: "attention",
  applying: "busy",
  applied: "good",
  left_out: "muted",
  failed: "bad",
  cancelled: "muted"
}

const waveTone: Readonly<Record<RunWave["state"], StatusTone>> = {
  waiting: "neutral",
  running: "busy",
  waiting_approval: "attention",
  succeeded: "good",
  failed: "bad",
  cancelled: "muted"
}

/** The server's message is in English, so a Japanese text is shown instead if the code has one. */
const Reason = ({
  failed,
  reason
}: {
  readonly failed: boolean
  readonly reason: NonNullable<WaveMember["reason"]>
}) => {
  const language = useLanguage()
  const known: Readonly<Record<string, string>> = useWords(updateWords).reasons
  const text = known[reason.code] ?? (language === "ja" ? japaneseReason(reason.code) : undefined)
  return (
    <span className={failed ? "bad-text" : "muted"} {...(text === undefined ? { lang: "en" } : {})}>
      {text ?? reason.message}
    </span>
  )
}

const Member = ({ member, run }: { readonly member: WaveMember; readonly run: Run | undefined }) => {
  const words = useWords(updateWords)
  const workspace = useWorkspace()
  const runId = member.applyRunId ?? member.planRunId
  const isToReview = member.state === "waiting_approval" || member.state === "approved"
  return (
    <li className="row row-static" data-testid={`member-${member.name}`}>
      <span className="row-name row-stack">
        <Link
          to="/w/$workspace/capsules/$capsuleId"
          params={{ workspace: workspace.handle, capsuleId: member.capsuleId }}
        >
          <strong>{member.name}</strong>
        </Link>
        {run?.resolvedCommit === undefined ? null : (
          <CommitLine id={run.resolvedCommit} description={run.commitDescription} />
        )}
        {member.waitsFor === undefined ? null : (
          <span className="muted">
            {words.waitsFor} {member.waitsFor.map(({ name, state }) => `${name} (${words.states[state]})`).join(", ")}
          </span>
        )}
        {member.reason === undefined ? null : <Reason reason={member.reason} failed={member.state === "failed"} />}
      </span>
      <Status tone={memberTone[member.state]}>{words.states[member.state]}</Status>
      {runId === undefined ? null : (
        <span className="row-end">
          <LinkButton
            small
            of={member.name}
            tone={isToReview ? "primary" : "plain"}
            to="/w/$workspace/runs/$runId"
            params={{ workspace: workspace.handle, runId }}
          >
            {isToReview ? words.review : member.applyRunId === undefined ? words.openPlan : words.openApply}
          </LinkButton>
        </span>
      )}
    </li>
  )
}

const Notices = ({ group }: { readonly group: RunGroup }) => {
  const words = useWords(updateWords)
  const workspace = useWorkspace()
  return (
    <>
      {group.heldReason === undefined ? null : (
        <Notice tone="warn" title={words.held}>
          <p lang="en">{group.heldReason}</p>
        </Notice>
      )}
      {group.status === "failed" ? (
        <Notice tone="bad" title={words.stopped}>
          <p>{words.stoppedText}</p>
        </Notice>
      ) : null}
      {group.replacedBy === undefined ? null : (
        <Notice tone="info" title={words.replaced}>
          <LinkButton
            small
            to="/w/$workspace/updates/$groupId"
            params={{ workspace: workspace.handle, groupId: group.replacedBy }}
          >
            {words.openNewer}
          </LinkButton>
        </Notice>
      )}
    </>
  )
}

const Cancel = ({ group }: { readonly group: RunGroup }) => {
  const words = useWords(updateWords)
  const queryClient = useQueryClient()
  const [asking, setAsking] = useState(false)
  const cancel = useDecision({
    send: (signal) => call(runsCancelGroup, { signal, params: { runGroupId: group.id } }),
    onSuccess: async () => {
      setAsking(false)
      await queryClient.invalidateQueries({ queryKey: runGroupQuery(group.id).queryKey })
    }
  })
  return (
    <>
      <Button onClick={() => setAsking(true)}>{words.cancel}</Button>
      {asking ? (
        <ConfirmDialog
          title={words.cancelTitle}
          action={words.cancel}
          change={cancel}
          onConfirm={() => cancel.mutate()}
          onClose={() => setAsking(false)}
        >
          {words.cancelText}
        </ConfirmDialog>
      ) : null}
    </>
  )
}

const Content = ({ group, runs }: { readonly group: RunGroup; readonly runs: ReadonlyArray<Run> }) => {
  const words = useWords(updateWords)
  const may = useMay()
  const isOpen = group.finishedAt === undefined
  return (
    <Page
      title={words.title}
      about={
        <p>
          {words.about} {words.started} <Time at={group.createdAt} />
        </p>
      }
      beside={<Status tone={waveTone[group.status]}>{words.statuses[group.status]}</Status>}
      actions={may("member") && isOpen && group.status !== "cancelled" ? <Cancel group={group} /> : undefined}
    >
      <div className="stack">
        <Notices group={group} />
        {(group.waves ?? []).map(({ capsules, state, wave }) => (
          <Panel
            key={wave}
            flush
            title={words.wave(wave)}
            beside={<Status tone={waveTone[state]}>{words.statuses[state]}</Status>}
          >
            <ul className="rows">
              {capsules.map((member) => (
                <Member
                  key={member.capsuleId}
                  member={member}
                  run={runs.find(({ id }) => id === (member.applyRunId ?? member.planRunId))}
                />
              ))}
            </ul>
          </Panel>
        ))}
      </div>
    </Page>
  )
}

/** An update of a Workspace: its waves, the dependencies between waiting Capsules, and the decisions that it needs. */
export const UpdateScreen = () => {
  const params = useParams({ strict: false })
  const query = useQuery(runGroupQuery(params.groupId ?? ""))
  return <LoadablePage query={query}>{({ runGroup, runs }) => <Content group={runGroup} runs={runs} />}</LoadablePage>
}
