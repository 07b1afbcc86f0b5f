import { type FormEvent, useState } from "react"
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
  return <FaultNotice error={error} />
}

export const SignIn = () => {
  const words = useWords(entranceWords)
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    request("POST", "/auth/sign-in", { body: { email: email.trim(), password }, keepOn401: true }).then(
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
      </form>
      <p className="entrance-note">
        {words.forgot} <code>svc admin reset-password</code>
      </p>
    </Frame>
  )
}
