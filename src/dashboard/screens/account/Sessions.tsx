import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../../api/Client.ts"
import { sessionsQuery } from "../../api/AccountQueries.ts"
import type { AccountSession } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useLanguage, useWords } from "../../words/Words.ts"
import { exactTime } from "../../words/Format.ts"
import { deviceName } from "../../ui/DeviceName.ts"
import { profileWords } from "./ProfileWords.ts"
import { signInWords } from "./SignInWords.ts"
import { accountWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const known = (method: string, names: Readonly<Record<string, string>>): string => names[method] ?? method

const Row = ({ session }: { readonly session: AccountSession }) => {
  const words = useWords(accountWords)
  const language = useLanguage()
  const device = deviceName(session.userAgent) ?? words.unknownDevice
  const queryClient = useQueryClient()
  const end = useDecision({
    send: (signal) => post(`/auth/sessions/${encodeURIComponent(session.id)}/revoke`, {}, { signal }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
  })
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong title={session.userAgent ?? undefined}>{device}</strong>{" "}
          {session.current ? <span className="tag">{words.thisSession}</span> : null}
        </span>
        <span className="muted">
          {known(session.method, words.methods)} · {words.lastSeen} <Time at={session.lastSeenAt} />
        </span>
        {end.error === null ? null : <FaultNotice error={end.error} />}
      </span>
      <span className="row-end">
        {session.current ? null : (
          <Button
            small
            of={`${device} · ${exactTime(language, session.lastSeenAt)}`}
            busy={end.isPending}
            onClick={() => end.mutate()}
          >
            {words.endSession}
          </Button>
        )}
      </span>
    </li>
  )
}

const Everywhere = () => {
  const words = useWords(signInWords)
  const [asking, setAsking] = useState(false)
  const end = useDecision({
    send: (signal) => post("/auth/sign-out-everywhere", {}, { signal }),
    onSuccess: () => window.location.assign("/sign-in")
  })
  return (
    <>
      <Button small onClick={() => setAsking(true)}>
        {words.everywhere}
      </Button>
      {asking ? (
        <ConfirmDialog
          title={words.everywhereTitle}
          action={words.everywhere}
          change={end}
          onConfirm={() => end.mutate()}
          onClose={() => setAsking(false)}
        >
          {words.everywhereText}
        </ConfirmDialog>
      ) : null}
    </>
  )
}

const Others = () => {
  const words = useWords(profileWords)
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button small onClick={() => setAsking(true)}>
        {words.others}
      </Button>
      {asking ? (
        <RemovalDialog
          title={words.othersTitle}
          action={words.others}
          remove={(signal) => post("/auth/sessions/revoke-others", {}, { signal })}
          list={sessionsQuery.queryKey}
          onClose={() => setAsking(false)}
        >
          {words.othersText}
        </RemovalDialog>
      ) : null}
    </>
  )
}

export const Sessions = () => {
  const words = useWords(accountWords)
  const query = useQuery(sessionsQuery)
  return (
    <Panel
      flush
      title={words.sessions}
      actions={
        <>
          {(query.data ?? []).length > 1 ? <Others /> : null}
          <Everywhere />
        </>
      }
    >
      <Loadable query={query}>
        {(sessions) => (
          <ul className="rows">
            {sessions.map((session) => (
              <Row key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Loadable>
    </Panel>
  )
}
