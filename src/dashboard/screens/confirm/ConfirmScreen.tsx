import "../../app/Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { WaitingConfirmation } from "../../../../schema/records/ActionConfirmation.ts"
import { post } from "../../api/Client.ts"
import { Fault } from "../../api/Fault.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { Facts, Page } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { confirmWords } from "./Words.ts"

type Decided = "approve" | "deny"

const Decision = ({ waiting }: { readonly waiting: WaitingConfirmation }) => {
  const words = useWords(confirmWords)
  const { action, asker, expiresAt, target, userCode, workspace } = waiting
  const decide = useDecision<Decided, Decided>({
    send: async (signal, decision) => {
      await post("/auth/confirmation/decide", { userCode, decision }, { signal })
      return decision
    }
  })
  if (decide.data !== undefined) {
    const isApproved = decide.data === "approve"
    return (
      <Notice tone={isApproved ? "good" : "warn"} title={isApproved ? words.approved : words.denied}>
        <p>{isApproved ? words.approvedText : words.deniedText}</p>
      </Notice>
    )
  }
  return (
    <div className="form">
      <Facts
        items={[
          [words.action, words.actions[action]],
          [words.workspace, workspace.handle],
          [words.targets[target.kind], target.name],
          [words.asker, words.askers[asker.kind](asker.name)],
          [words.code, <strong key="code">{userCode}</strong>],
          [words.until, <Time key="until" at={expiresAt} />]
        ]}
      />
      <p>{words.warning}</p>
      {decide.error === null ? null : <FaultNotice error={decide.error} />}
      <div className="form-actions">
        <Button tone="primary" busy={decide.isPending} onClick={() => decide.mutate("approve")}>
          {words.approve}
        </Button>
        <Button busy={decide.isPending} onClick={() => decide.mutate("deny")}>
          {words.deny}
        </Button>
      </div>
    </div>
  )
}

const Waiting = ({ code, onAgain }: { readonly code: string; readonly onAgain: () => void }) => {
  const words = useWords(confirmWords)
  const query = useQuery({
    queryKey: ["confirmation-waiting", code],
    queryFn: ({ signal }) =>
      post<{ confirmation: WaitingConfirmation }>("/auth/confirmation/waiting", { userCode: code }, { signal }).then(
        ({ confirmation }) => confirmation,
        (error: unknown) => {
          if (error instanceof Fault && error.status === 404) return "unknown" as const
          throw error
        }
      ),
    retry: false,
    // Read only once, because the decision deletes the pending action.
    staleTime: Number.POSITIVE_INFINITY
  })
  return (
    <Loadable query={query}>
      {(waiting) =>
        waiting === "unknown" ? (
          <>
            <Notice tone="warn">{words.unknown}</Notice>
            <Button onClick={onAgain}>{words.again}</Button>
          </>
        ) : (
          <Decision waiting={waiting} />
        )
      }
    </Loadable>
  )
}

const CodeForm = ({ onCode }: { readonly onCode: (code: string) => void }) => {
  const words = useWords(confirmWords)
  const [code, setCode] = useState("")
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        onCode(code.trim())
      }}
    >
      <TextField
        label={words.code}
        autoComplete="off"
        required
        maxLength={16}
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
      <div className="form-actions">
        <Button tone="primary" type="submit">
          {words.look}
        </Button>
      </div>
    </form>
  )
}

/** The page on which a person approves or denies an action that a program requests with their token. */
export const ConfirmScreen = () => {
  const words = useWords(confirmWords)
  const [code, setCode] = useState(() => new URLSearchParams(window.location.search).get("code") ?? "")
  return (
    <Page narrow title={words.title} about={words.about}>
      {code === "" ? <CodeForm onCode={setCode} /> : <Waiting key={code} code={code} onAgain={() => setCode("")} />}
    </Page>
  )
}
