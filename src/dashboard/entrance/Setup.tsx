import { type FormEvent, useEffect, useRef, useState } from "react"
import { shortestPassword } from "../../../schema/records/Password.ts"
import { request } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { useWords } from "../words/Words.ts"
import { Frame } from "./Frame.tsx"
import type { SetupPerson } from "./PasskeySetup.ts"
import { useSignInOffer } from "./SignInOffer.ts"
import { entranceWords } from "./Words.ts"

/** The fragment is `#<secret>` or `#secret=<secret>`; it never reaches the server's logs. */
export const setupSecret = (hash: string): string | undefined => {
  const text = hash.replace(/^#/, "")
  const secret = text.startsWith("secret=") ? text.slice("secret=".length) : text
  return secret === "" ? undefined : decodeURIComponent(secret)
}

const linkCommand = "svc admin setup-link"
const resetCommand = "svc admin reset-password"

type SetupLink =
  | { readonly purpose: "first_account" }
  | { readonly purpose: "recovery"; readonly email: string }
  | { readonly purpose: "refused"; readonly error: unknown }

const isRefusal = (error: unknown): boolean => error instanceof Fault && [401, 403, 404, 410].includes(error.status)

/** The purpose of the link. Until it is known, or when it cannot be, the page is for the first account. */
const useSetupLink = (secret: string | undefined): SetupLink => {
  const [link, setLink] = useState<SetupLink>({ purpose: "first_account" })
  useEffect(() => {
    if (secret === undefined) return
    const gone = new AbortController()
    request<{ link: SetupLink }>("POST", "/auth/setup/link", {
      body: { secret },
      signal: gone.signal,
      keepOn401: true
    }).then(
      (answer) => setLink(answer.link),
      (error: unknown) => (isRefusal(error) ? setLink({ purpose: "refused", error }) : undefined)
    )
    return () => gone.abort()
  }, [secret])
  return link
}

const Refusal = ({ error }: { readonly error: unknown }) => {
  const words = useWords(entranceWords)
  if (isRefusal(error)) {
    return (
      <Notice tone="bad">
        <p>
          {words.setupRefused} <code>{linkCommand}</code>
        </p>
      </Notice>
    )
  }
  if (error instanceof Fault) return <FaultNotice error={error} />
  return <Notice tone="bad">{words.passkeyNotMade}</Notice>
}

interface PersonFieldsProps {
  readonly name: string
  readonly email: string
  readonly onName: (name: string) => void
  readonly onEmail: (email: string) => void
}

const PersonFields = ({ name, email, onName, onEmail }: PersonFieldsProps) => {
  const words = useWords(entranceWords)
  return (
    <>
      <TextField
        label={words.displayName}
        helper={words.displayNameHelp}
        optional
        name="displayName"
        autoComplete="name"
        maxLength={80}
        value={name}
        onChange={(event) => onName(event.target.value)}
      />
      <TextField
        label={words.email}
        type="email"
        name="email"
        autoComplete="username"
        required
        value={email}
        onChange={(event) => onEmail(event.target.value)}
      />
    </>
  )
}

interface PasskeyWayProps {
  readonly recovering: boolean
  readonly primary: boolean
  readonly onPress: () => void
}

const PasskeyWay = ({ recovering, primary, onPress }: PasskeyWayProps) => {
  const words = useWords(entranceWords)
  return (
    <>
      <div className="entrance-ways">
        <Button icon="connection" tone={primary ? "primary" : "plain"} onClick={onPress}>
          {recovering ? words.recoverByPasskey : words.createByPasskey}
        </Button>
      </div>
      <p className="entrance-note">
        {words.passkeyAbout} {recovering ? words.passkeyReplaces : null} {words.passkeyLost} <code>{resetCommand}</code>
      </p>
    </>
  )
}

interface SetupFormProps {
  readonly secret: string
  readonly link: SetupLink
}

const SetupForm = ({ secret, link }: SetupFormProps) => {
  const words = useWords(entranceWords)
  const offer = useSignInOffer()
  const [capable] = useState(() => typeof window !== "undefined" && passkeysPossible(window.location.hostname))
  const form = useRef<HTMLFormElement>(null)
  const [email, setEmail] = useState("")
  const [name, setName] = useState("")
  const [password, setPassword] = useState("")
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const recovering = link.purpose === "recovery"
  const byPasskey = capable && offer.passkeys
  // The holder of a link must get in; where nothing else is possible, a password still opens this session.
  const byPassword = offer.password || !byPasskey
  const person = (): SetupPerson =>
    recovering
      ? { secret }
      : { secret, email: email.trim(), ...(name.trim() === "" ? {} : { displayName: name.trim() }) }
  const enter = (attempt: Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    attempt.then(
      () => window.location.replace("/"),
      (refused: unknown) => {
        setError(refused)
        setBusy(false)
      }
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    enter(request("POST", "/auth/setup", { body: { ...person(), password }, keepOn401: true }))
  }
  const withPasskey = () => {
    // A passkey needs the whole form except the password.
    const address = form.current?.querySelector<HTMLInputElement>("input[type=email]")
    if (busy || address?.reportValidity() === false) return
    enter(import("./PasskeySetup.ts").then(({ setUpWithPasskey }) => setUpWithPasskey(person())))
  }
  return (
    <>
      <form ref={form} className="form" method="post" action="/setup" onSubmit={submit}>
        <noscript>
          <TextField
            label={words.setupCode}
            helper={words.setupCodeHelp}
            name="secret"
            mono
            required
            autoComplete="off"
            spellCheck={false}
          />
        </noscript>
        {recovering ? null : <PersonFields name={name} email={email} onName={setName} onEmail={setEmail} />}
        {byPassword ? (
          <TextField
            label={recovering ? words.newPassword : words.password}
            helper={words.passwordHelp}
            type="password"
            name="password"
            autoComplete="new-password"
            required
            minLength={shortestPassword}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        ) : null}
        {error === undefined ? null : <Refusal error={error} />}
        {byPassword ? (
          <Button tone="primary" type="submit" busy={busy}>
            {recovering ? words.setPassword : words.create}
          </Button>
        ) : null}
      </form>
      {byPassword && byPasskey ? <p className="entrance-or">{words.or}</p> : null}
      {byPasskey ? <PasskeyWay recovering={recovering} primary={!byPassword} onPress={withPasskey} /> : null}
    </>
  )
}

export const Setup = () => {
  const words = useWords(entranceWords)
  // While rendering ahead of time there is no address yet, so the form is shown.
  const [secret] = useState(() => (typeof window === "undefined" ? "" : setupSecret(window.location.hash)))
  const link = useSetupLink(secret)
  useEffect(() => {
    // The secret leaves the address bar and the history as soon as it is read.
    window.history.replaceState(null, "", window.location.pathname)
    // A second link opened in this tab differs only in its fragment, for which no browser reloads the page.
    const again = () => window.location.reload()
    window.addEventListener("hashchange", again)
    return () => window.removeEventListener("hashchange", again)
  }, [])
  const recovering = link.purpose === "recovery"
  return (
    <Frame
      title={recovering ? words.recoverTitle : words.setupTitle}
      about={recovering ? words.recoverAbout(link.email) : words.setupAbout}
    >
      {secret === undefined ? (
        <Notice tone="warn" title={words.setupNoSecret}>
          <p>
            {words.setupNoSecretText} <code>{linkCommand}</code>
          </p>
        </Notice>
      ) : link.purpose === "refused" ? (
        <Refusal error={link.error} />
      ) : (
        <SetupForm secret={secret} link={link} />
      )}
    </Frame>
  )
}
