import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type KeyboardEvent, useId, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import { runApprovalsQuery } from "../../api/ApprovalQueries.ts"
import { call } from "../../api/Call.ts"
import { commentsQuery } from "../../api/CommentQueries.ts"
import { commentsRemove, commentsWrite } from "../../api/Endpoints.ts"
import { membersQuery } from "../../api/Queries.ts"
import type { Run, RunComment, RunEvent } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { Icon, type IconName } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { exactTime } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { useApplyOf } from "./Decision.tsx"
import { decisionWords } from "./DecisionWords.ts"
import { discussionWords } from "./DiscussionWords.ts"
import { mentionable, mentionName, mentionsIn, openMention, suggested } from "./Mentions.ts"
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

const mostSuggested = 6
const longestComment = 4000

/** The form for a comment. Typing `@` lists the people who can be mentioned; the arrow keys and Enter select one. */
const CommentForm = ({ runId }: { readonly runId: string }) => {
  const words = useWords(discussionWords)
  const workspace = useWorkspace()
  const { sendsMail } = useBootstrap()
  const queryClient = useQueryClient()
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState("")
  const [caret, setCaret] = useState<number | undefined>(undefined)
  const [marked, setMarked] = useState(0)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  // With this key, sending the same comment again after a lost response stores it once.
  const [key, setKey] = useState(() => crypto.randomUUID())
  const { data: members = [] } = useQuery({ ...membersQuery(workspace.id), staleTime: 60_000 })
  const people = mentionable(members)
  const open = caret === undefined ? undefined : openMention(text, caret)
  const offered = open === undefined ? [] : suggested(people, open.typed, mostSuggested)
  const current = Math.min(marked, offered.length - 1)

  const write = useDecision({
    send: (signal) =>
      call(commentsWrite, {
        signal,
        params: { runId },
        idempotencyKey: key,
        body: { text: text.trim(), mentions: [...mentionsIn(text, people, chosen)] }
      }),
    onSuccess: async () => {
      setText("")
      setChosen(new Set())
      setKey(crypto.randomUUID())
      await queryClient.invalidateQueries({ queryKey: commentsQuery(runId).queryKey })
    }
  })

  const choose = (person: (typeof people)[number]) => {
    if (open === undefined) return
    const inserted = `@${mentionName(person)} `
    const end = open.at + inserted.length
    // The caret moves synchronously, because a person may type the next letter before the next frame.
    flushSync(() => {
      setText(`${text.slice(0, open.at)}${inserted}${text.slice(open.at + 1 + open.typed.length)}`)
      setChosen(new Set([...chosen, person.subject]))
      setCaret(undefined)
    })
    field.current?.focus()
    field.current?.setSelectionRange(end, end)
  }

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const person = offered[current]
    if (person === undefined) return
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: offered.length - 1 }
    const move = moves[event.key]
    if (move !== undefined) setMarked((current + move) % offered.length)
    else if (event.key === "Enter" || event.key === "Tab") choose(person)
    else if (event.key === "Escape") setCaret(undefined)
    else return
    event.preventDefault()
  }

  return (
    <form
      className="comment-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== "" && !write.isPending) write.mutate()
      }}
    >
      <div className="field">
        <label htmlFor={id}>{words.label}</label>
        <textarea
          ref={field}
          id={id}
          className="input input-area"
          rows={2}
          maxLength={longestComment}
          value={text}
          aria-describedby={`${id}-help`}
          aria-autocomplete="list"
          aria-controls={offered.length === 0 ? undefined : `${id}-people`}
          aria-activedescendant={offered.length === 0 ? undefined : `${id}-${current}`}
          onChange={({ target }) => {
            setText(target.value)
            setCaret(target.selectionStart)
            setMarked(0)
          }}
          onKeyDown={onKeyDown}
          onBlur={() => setCaret(undefined)}
        />
        {offered.length === 0 ? null : (
          // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a select cannot be filtered by a text field
          <div className="menu" id={`${id}-people`} role="listbox" aria-label={words.people} tabIndex={-1}>
            {offered.map((person, index) => (
              <div
                key={person.subject}
                id={`${id}-${index}`}
                className="menu-item"
                // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- see its list
                role="option"
                tabIndex={-1}
                aria-selected={index === current}
                data-highlighted={index === current ? "" : undefined}
                // The field keeps the focus.
                onPointerDown={(event) => {
                  event.preventDefault()
                  choose(person)
                }}
              >
                <span className="menu-label">
                  {mentionName(person)}
                  {person.displayName === undefined || person.email === undefined ? null : (
                    <small>{person.email}</small>
                  )}
                </span>
              </div>
            ))}
          </div>
        )}
        <div className="field-help" id={`${id}-help`}>
          {sendsMail ? words.helpMail : words.help}
        </div>
        <output className="visually-hidden">{offered.length === 0 ? "" : words.suggestions(offered.length)}</output>
      </div>
      {write.error === null ? null : <FaultNotice error={write.error} />}
      <Button type="submit" busy={write.isPending} disabled={text.trim() === ""}>
        {words.send}
      </Button>
    </form>
  )
}

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
