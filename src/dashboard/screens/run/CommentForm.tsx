import { useQuery, useQueryClient } from "@tanstack/react-query"
import { type KeyboardEvent, useId, useRef, useState } from "react"
import { flushSync } from "react-dom"
import { call } from "../../api/Call.ts"
import { commentsQuery } from "../../api/CommentQueries.ts"
import { commentsWrite } from "../../api/Endpoints.ts"
import { membersQuery } from "../../api/Queries.ts"
import { useBootstrap, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"
import { discussionWords } from "./DiscussionWords.ts"
import { mentionable, mentionName, mentionsIn, openMention, suggested } from "./Mentions.ts"

const mostSuggested = 6
const longestComment = 4000

/** The form for a comment. Typing `@` lists the people who can be mentioned; the arrow keys and Enter select one. */
export const CommentForm = ({ runId }: { readonly runId: string }) => {
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
