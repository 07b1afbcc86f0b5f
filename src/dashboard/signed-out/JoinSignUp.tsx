import { type FormEvent, useRef, useState } from "react"
import { shortestPassword } from "../../../schema/records/Password.ts"
import { request } from "../api/Client.ts"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { Button } from "../ui/Button.tsx"
import { TextField } from "../ui/Field.tsx"
import { PasskeyHint } from "../ui/PasskeyHint.tsx"
import { useWords } from "../words/Words.ts"
import { joinWords } from "./JoinWords.ts"
import { useSignInOffer } from "./SignInOffer.ts"
import { signedOutWords } from "./Words.ts"

interface JoinSignUpProps {
  readonly secret: string
  /** The invitation's address, which cannot be changed. */
  readonly email: string | undefined
  readonly busy: boolean
  readonly onEnter: (attempt: Promise<unknown>) => void
}

/** Creates a new account to accept the invitation. */
export const JoinSignUp = ({ secret, email: given, busy, onEnter }: JoinSignUpProps) => {
  const words = useWords(signedOutWords)
  const join = useWords(joinWords)
  const offer = useSignInOffer()
  const [capable] = useState(() => passkeysPossible(window.location.hostname))
  const form = useRef<HTMLFormElement>(null)
  const [email, setEmail] = useState("")
  const [name, setName] = useState("")
  const [password, setPassword] = useState("")
  const byPasskey = capable && offer.passkeys
  const person = () => ({
    secret,
    ...(given === undefined ? { email: email.trim() } : {}),
    ...(name.trim() === "" ? {} : { displayName: name.trim() })
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!busy) {
      onEnter(request("POST", "/auth/invitations/sign-up", { body: { ...person(), password }, keepOn401: true }))
    }
  }
  const withPasskey = () => {
    // To use a passkey, the person has to complete all fields except the password.
    const address = form.current?.querySelector<HTMLInputElement>("input[type=email]")
    if (busy || address?.reportValidity() === false) return
    onEnter(import("./PasskeySetup.ts").then(({ setUpWithPasskey }) => setUpWithPasskey(person(), "/auth/invitations")))
  }
  return (
    <>
      <form ref={form} className="form" onSubmit={submit}>
        <TextField
          label={words.displayName}
          helper={words.displayNameHelp}
          optional
          name="displayName"
          autoComplete="name"
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {given === undefined ? (
          <TextField
            label={words.email}
            type="email"
            name="email"
            autoComplete="username"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        ) : null}
        {offer.password ? (
          <>
            <TextField
              label={words.password}
              helper={words.passwordHelp}
              type="password"
              name="password"
              autoComplete="new-password"
              required
              minLength={shortestPassword}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
            <Button tone="primary" type="submit" busy={busy}>
              {join.create}
            </Button>
          </>
        ) : null}
      </form>
      {offer.password && byPasskey ? <p className="signed-out-or">{words.or}</p> : null}
      {byPasskey ? (
        <div className="signed-out-ways">
          <Button icon="connection" tone={offer.password ? "plain" : "primary"} busy={busy} onClick={withPasskey}>
            {join.createByPasskey}
          </Button>
        </div>
      ) : capable ? null : (
        <p className="signed-out-note">
          <PasskeyHint offered={offer.passkeys} />
        </p>
      )}
    </>
  )
}
