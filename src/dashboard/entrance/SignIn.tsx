import { type FormEvent, useState } from "react"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { request, returnPath } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { useWords } from "../words/Words.ts"
import { Frame } from "./Frame.tsx"
import { entranceWords } from "./Words.ts"

const Refusal = ({ error }: { readonly error: unknown }) => {
  const words = useWords(entranceWords)
  if (error instanceof Fault && error.status === 401) return <Notice tone="bad">{words.signInFailed}</Notice>
  if (error instanceof Fault && error.status === 429) return <Notice tone="bad">{words.tooMany}</Notice>
  if (error instanceof Fault && error.status === 0) return <Notice tone="bad">{words.unreachable}</Notice>
  if (error instanceof Fault) return <FaultNotice error={error} />
  return <Notice tone="bad">{words.passkeyFailed}</Notice>
}

export const SignIn = () => {
  const words = useWords(entranceWords)
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [possible] = useState(() => typeof window !== "undefined" && passkeysPossible(window.location.hostname))
  const enter = (attempt: Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    attempt.then(
      () =>
        window.location.replace(
          returnPath(new URLSearchParams(window.location.search).get("return"), window.location.origin)
        ),
      (refused: unknown) => {
        setError(refused)
        setBusy(false)
      }
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    enter(request("POST", "/auth/sign-in", { body: { email: email.trim(), password }, keepOn401: true }))
  }
  const withPasskey = () => enter(import("./PasskeySignIn.ts").then(({ signInWithPasskey }) => signInWithPasskey()))
  return (
    <Frame title={words.signInTitle} about={words.signInAbout}>
      <form className="form" onSubmit={submit}>
        <TextField
          label={words.email}
          type="email"
          name="email"
          autoComplete="username webauthn"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <TextField
          label={words.password}
          type="password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {error === undefined ? null : <Refusal error={error} />}
        <Button tone="primary" type="submit" busy={busy}>
          {words.signIn}
        </Button>
        {possible ? (
          <Button icon="connection" onClick={busy ? undefined : withPasskey}>
            {words.orPasskey}
          </Button>
        ) : null}
      </form>
      <p className="entrance-note">
        {words.forgot} <code>svc admin reset-password</code>
      </p>
    </Frame>
  )
}
