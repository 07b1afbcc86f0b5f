import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import { runApprovalsQuery } from "../../api/ApprovalQueries.ts"
import { call } from "../../api/Call.ts"
import { commentsQuery } from "../../api/CommentQueries.ts"
import { commentsRemove } from "../../api/Endpoints.ts"
import type { Run, RunComment, RunEvent } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { exactTime } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { CommentForm } from "./CommentForm.tsx"
import { useApplyOf } from "./Decision.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { discussionWords } from "./DiscussionWords.ts"
import { runWords } from "./Words.ts"
import { type StoryEvent, storyOf } from "./Story.ts"

const marks: Readonly<Record<StoryEvent["kind"], { readonly icon: IconName; readonly tone: string }>> = {
  queued: { icon: "clock", tone: "" },
  planned: { icon: "person", tone: "" },
  approved: { icon: "check", tone: " activity-good" },
  applied: { icon: "run", tone: "" },
  askedToStop: { icon: "stop", tone: " activity-warn" },
  cancelled: { icon: "stop", tone: " activity-warn" },
  discarded: { icon: "cross", tone: " activity-warn" },
  approval_withdrawn: { icon: "cross", tone: " activity-warn" },
  superseded: { icon: "replace", tone: "" },
  expired: { icon: "clock", tone: " activity-warn" },
  failed: { icon: "cross", tone: " activity-bad" },
  finished: { icon: "check", tone: " activity-good" }
}

const EventLine = ({ line }: { readonly line: StoryEvent }) => {
  const words = useWords(discussionWords)
  const decisions = useWords(decisionWords)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const { icon, tone } = marks[line.kind]
  return (
    <li className="activity-row">
      <span className={`activity-mark${tone}`} aria-hidden="true">
        <Icon name={icon} />
      </span>
      <div className="activity-text">
        <span>
          {words.story[line.kind](line.subject === undefined ? "svc" : actorName(line.subject))}{" "}
          {line.runId === undefined ? null : (
            <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: line.runId }}>
              {words.openApply}
            </Link>
          )}
        </span>
        {line.reason === undefined ? null : (
          <span>
            {decisions.because} <q>{line.reason}</q>
          </span>
        )}
      </div>
      <Time at={line.at} />
    </li>
  )
}

const CommentLine = ({ comment, onRemove }: { readonly comment: RunComment; readonly onRemove: () => void }) => {
  const words = useWords(discussionWords)
  const actorName = useActorName()
  const { subject } = useBootstrap()
  const may = useMay()
  const name = actorName(comment.author)
  const language = useLanguage()
  return (
    <li className="activity-row" id={comment.id}>
      <span className="activity-mark activity-said" aria-hidden="true">
        <Icon name="person" />
      </span>
      <div className="activity-text">
        {comment.text === undefined ? (
          <span className="muted">{words.removedBy(name)}</span>
        ) : (
          <>
            <strong>{name}</strong>
            <blockquote className="comment-text" dir="auto">
              {comment.text}
            </blockquote>
            {comment.author === subject.id && may("member") ? (
              <div>
                <Button small of={exactTime(language, comment.createdAt)} tone="quiet" onClick={onRemove}>
                  {words.remove}
                </Button>
              </div>
            ) : null}
          </>
        )}
      </div>
      <Time at={comment.createdAt} />
    </li>
  )
}

const noComments: ReadonlyArray<RunComment> = []

/** The events of a Run and people's comments in one timeline. */
export const Discussion = ({ run, events }: { readonly run: Run; readonly events: ReadonlyArray<RunEvent> }) => {
  const words = useWords(discussionWords)
  const runs = useWords(runWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [removing, setRemoving] = useState<string | undefined>(undefined)
  const { data: comments = noComments } = useQuery(commentsQuery(run.id))
  const standing = useQuery({
    ...runApprovalsQuery(run.id),
    enabled: isPlan(run.type) && run.speculative !== true
  }).data
  const apply = useApplyOf(run)
  const lines = storyOf({ run, events, approvals: standing?.approvals ?? [], apply: apply ?? undefined, comments })
  return (
    <div id="discussion">
      <Panel
        title={runs.discussion}
        beside={<span className="muted">{runs.comments(comments.length)}</span>}
        {...(run.planRunId === undefined
          ? {}
          : {
              about: (
                <>
                  {words.ofPlan}{" "}
                  <Link to="/w/$workspace/runs/$runId" params={{ workspace: workspace.handle, runId: run.planRunId }}>
                    {words.openPlan}
                  </Link>
                </>
              )
            })}
      >
        <ol className="activity discussion">
          {lines.map((line) =>
            line.kind === "comment" ? (
              <CommentLine key={line.comment.id} comment={line.comment} onRemove={() => setRemoving(line.comment.id)} />
            ) : (
              <EventLine key={`${line.kind} ${line.at} ${line.subject ?? ""}`} line={line} />
            )
          )}
        </ol>
        {may("member") ? <CommentForm runId={run.id} /> : null}
      </Panel>
      {removing === undefined ? null : (
        <RemovalDialog
          title={words.removeTitle}
          action={words.remove}
          list={commentsQuery(run.id).queryKey}
          remove={(signal) => call(commentsRemove, { signal, params: { runId: run.id, commentId: removing } })}
          onClose={() => setRemoving(undefined)}
        >
          {words.removeText}
        </RemovalDialog>
      )}
    </div>
  )
}
