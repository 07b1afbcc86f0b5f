import { type FormEvent, useState } from "react"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { request, returnPath } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useWords } from "../words/Words.ts"
import { Frame } from "./Frame.tsx"
import { upstreamStart, useSignInOffer } from "./SignInOffer.ts"
import { entranceWords } from "./Words.ts"

const Refusal = ({ error }: { readonly error: unknown }) => {
  const words = useWords(entranceWords)
  if (error instanceof Fault && error.status === 401) return <Notice tone="bad">{words.signInFailed}</Notice>
  if (error instanceof Fault && error.status === 429) return <Notice tone="bad">{words.tooMany}</Notice>
  if (error instanceof Fault && error.status === 0) return <Notice tone="bad">{words.unreachable}</Notice>
  if (error instanceof Fault) return <FaultNotice error={error} />
  return <Notice tone="bad">{words.passkeyFailed}</Notice>
}

const wanted = (): string =>
  returnPath(new URLSearchParams(window.location.search).get("return"), window.location.origin)

interface PasswordFormProps {
  readonly busy: boolean
  readonly onEnter: (attempt: Promise<unknown>) => void
}

const PasswordForm = ({ busy, onEnter }: PasswordFormProps) => {
  const words = useWords(entranceWords)
  const [email, setEmail] = useState("")
  const [password, setPassword] = useState("")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onEnter(request("POST", "/auth/sign-in", { body: { email: email.trim(), password }, keepOn401: true }))
  }
  return (
    // Without a script the browser submits it itself.
    <form className="form" method="post" action="/sign-in" onSubmit={submit}>
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
      <Button tone="primary" type="submit" busy={busy}>
        {words.signIn}
      </Button>
    </form>
  )
}

export const SignIn = () => {
  const words = useWords(entranceWords)
  const offer = useSignInOffer()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const [capable] = useState(() => typeof window !== "undefined" && passkeysPossible(window.location.hostname))
  const { provider } = offer
  const possible = capable && offer.passkeys
  const enter = (attempt: Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    attempt.then(
      () => window.location.replace(wanted()),
      (refused: unknown) => {
        setError(refused)
        setBusy(false)
      }
    )
  }
  const withPasskey = () => enter(import("./PasskeySignIn.ts").then(({ signInWithPasskey }) => signInWithPasskey()))
  return (
    <Frame title={words.signInTitle} about={words.signInAbout}>
      {error === undefined ? null : <Refusal error={error} />}
      {offer.password ? <PasswordForm busy={busy} onEnter={enter} /> : null}
      {offer.password && (possible || provider !== undefined) ? <p className="entrance-or">{words.or}</p> : null}
      {possible || provider !== undefined ? (
        <div className="entrance-ways">
          {provider === undefined ? null : (
            <a className={`button button-${offer.password ? "plain" : "primary"}`} href={upstreamStart(wanted())}>
              <Icon name="shield" />
              {words.orUpstream(provider.name)}
            </a>
          )}
          {possible ? (
            <Button icon="connection" onClick={busy ? undefined : withPasskey}>
              {words.orPasskey}
            </Button>
          ) : null}
        </div>
      ) : null}
      {offer.password ? (
        <p className="entrance-note">
          {words.forgot} <code>svc admin reset-password</code>
        </p>
      ) : possible || provider !== undefined ? null : (
        <Notice tone="warn">{words.noWay}</Notice>
      )}
    </Frame>
  )
}
