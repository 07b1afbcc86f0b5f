import { type FormEvent, useState } from "react"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { request, returnPath } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { PasskeyHint } from "../ui/PasskeyHint.tsx"
import { useWords } from "../words/Words.ts"
import { enteredBefore } from "./EnteredBefore.ts"
import { Frame } from "./Frame.tsx"
import { upstreamStart, useSignInOffer } from "./SignInOffer.ts"
import { signedOutWords } from "./Words.ts"

/** Returns true if the password is correct and the account requires a second factor. */
const isCodeWanted = (error: unknown): boolean => error instanceof Fault && error.code === "second_factor_required"

interface RefusalProps {
  readonly error: unknown
  /** True if a code has already been entered. */
  readonly again: boolean
}

const Refusal = ({ error, again }: RefusalProps) => {
  const words = useWords(signedOutWords)
  if (isCodeWanted(error))
    return <Notice tone={again ? "bad" : "info"}>{again ? words.codeFailed : words.codeWanted}</Notice>
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
  readonly asksCode: boolean
  readonly onEnter: (attempt: Promise<unknown>) => void
}

const PasswordForm = ({ busy, asksCode, onEnter }: PasswordFormProps) => {
  const words = useWords(signedOutWords)
  const [email, setEmail] = useState(() => enteredBefore("email"))
  const [password, setPassword] = useState(() => enteredBefore("password"))
  const [code, setCode] = useState("")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const body = { email: email.trim(), password, ...(asksCode && code.trim() !== "" ? { code: code.trim() } : {}) }
    onEnter(request("POST", "/auth/sign-in", { body, keepOn401: true }))
  }
  return (
    // Without scripts, the browser itself submits the form.
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
      {asksCode ? (
        <TextField
          label={words.code}
          helper={words.codeHelp}
          name="code"
          autoComplete="one-time-code"
          required
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      ) : (
        <noscript>
          <TextField label={words.code} helper={words.codeHelp} name="code" optional autoComplete="one-time-code" />
        </noscript>
      )}
      <Button tone="primary" type="submit" busy={busy}>
        {words.signIn}
      </Button>
    </form>
  )
}

export const SignIn = () => {
  const words = useWords(signedOutWords)
  const offer = useSignInOffer()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  // After the server has asked for a code, the form has a field for it.
  const [asked, setAsked] = useState(0)
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
        if (isCodeWanted(refused)) setAsked((count) => count + 1)
        setBusy(false)
      }
    )
  }
  const withPasskey = () => enter(import("./PasskeySignIn.ts").then(({ signInWithPasskey }) => signInWithPasskey()))
  return (
    <Frame title={words.signInTitle} about={words.signInAbout}>
      {error === undefined ? null : <Refusal error={error} again={asked > 1} />}
      {offer.password ? <PasswordForm busy={busy} asksCode={asked > 0} onEnter={enter} /> : null}
      {offer.password && (possible || provider !== undefined) ? <p className="signed-out-or">{words.or}</p> : null}
      {possible || provider !== undefined ? (
        <div className="signed-out-ways">
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
      {capable || !offer.passkeys || !offer.password ? null : (
        <p className="signed-out-note">
          <PasskeyHint offered />
        </p>
      )}
      {offer.password ? (
        <p className="signed-out-note">
          {words.forgot} <code>svc admin reset-password</code>
        </p>
      ) : possible || provider !== undefined ? null : (
        <Notice tone="warn">{words.noWay}</Notice>
      )}
    </Frame>
  )
}
