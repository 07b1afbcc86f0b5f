import { type FormEvent, useEffect, useRef, useState } from "react"
import type { SetupLinkState } from "../../../schema/records/AccountLink.ts"
import { shortestPassword } from "../../../schema/records/Password.ts"
import { request } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice, Skeleton } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { PasskeyHint } from "../ui/PasskeyHint.tsx"
import { Time } from "../ui/Time.tsx"
import { useWords } from "../words/Words.ts"
import { enteredBefore } from "./EnteredBefore.ts"
import { Frame } from "./Frame.tsx"
import type { SetupPerson } from "./PasskeySetup.ts"
import { forgetSetupSecret, setupSecret } from "./SetupSecret.ts"
import { setupWords } from "./SetupWords.ts"
import { useSignInOffer } from "./SignInOffer.ts"
import { signedOutWords } from "./Words.ts"

type Found =
  | { readonly kind: "checking" }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "link"; readonly link: SetupLinkState }

const inspect = (secret: string, signal?: AbortSignal): Promise<Found> =>
  request<{ link: SetupLinkState }>("POST", "/auth/setup/link", {
    body: { secret },
    keepOn401: true,
    ...(signal === undefined ? {} : { signal })
  }).then(
    ({ link }) => ({ kind: "link", link }),
    (error: unknown) =>
      error instanceof Fault && error.status === 404 ? { kind: "unknown" } : { kind: "failed", error }
  )

/** The purpose of the link, and a function that requests the purpose again. */
const useSetupLink = (secret: string | undefined): readonly [found: Found, ask: () => void] => {
  const [found, setFound] = useState<Found>({ kind: "checking" })
  useEffect(() => {
    if (secret === undefined) return
    const gone = new AbortController()
    void inspect(secret, gone.signal).then((next) => (gone.signal.aborted ? undefined : setFound(next)))
    return () => gone.abort()
  }, [secret])
  return [found, () => (secret === undefined ? undefined : void inspect(secret).then(setFound))]
}

const NewFirst = () => {
  const words = useWords(setupWords)
  return (
    <p>
      {words.newFirst} <code>svc admin setup-link</code>
    </p>
  )
}

const NewRecovery = () => {
  const words = useWords(setupWords)
  return (
    <p>
      {words.newRecovery} <code>svc admin reset-password</code>
    </p>
  )
}

const Ended = ({ purpose, state }: Exclude<SetupLinkState, { readonly state: "live" }>) => {
  const words = useWords(setupWords)
  const isFirst = purpose === "first_account"
  if (state === "expired") {
    return (
      <Notice tone="warn" title={words.expired}>
        <p>{words.expiredText}</p>
        {isFirst ? <NewFirst /> : <NewRecovery />}
      </Notice>
    )
  }
  return (
    <>
      <Notice tone="warn" title={words.used[purpose]}>
        <p>{words.usedText[purpose]}</p>
        <NewRecovery />
      </Notice>
      <div className="signed-out-ways">
        <a className="button button-primary" href="/sign-in">
          {words.signIn}
        </a>
      </div>
    </>
  )
}

/** Shown if the link cannot be used because its secret is missing or unknown to the server. */
const Unusable = ({ reason }: { readonly reason: "incomplete" | "unknown" }) => {
  const words = useWords(setupWords)
  return (
    <Notice tone="warn" title={words[reason]}>
      <p>{words[`${reason}Text`]}</p>
      <NewFirst />
      <NewRecovery />
    </Notice>
  )
}

interface LinkProps {
  readonly secret: string
  readonly link: SetupLinkState
  readonly onEnded: () => void
}

const resetCommand = "svc admin reset-password"

const Refusal = ({ error }: { readonly error: unknown }) => {
  const words = useWords(setupWords)
  return error instanceof Fault ? <FaultNotice error={error} /> : <Notice tone="bad">{words.passkeyNotMade}</Notice>
}

interface PersonFieldsProps {
  readonly name: string
  readonly email: string
  readonly onName: (name: string) => void
  readonly onEmail: (email: string) => void
}

const PersonFields = ({ name, email, onName, onEmail }: PersonFieldsProps) => {
  const words = useWords(signedOutWords)
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
  const words = useWords(setupWords)
  return (
    <>
      <div className="signed-out-ways">
        <Button icon="connection" tone={primary ? "primary" : "plain"} onClick={onPress}>
          {recovering ? words.recoverByPasskey : words.createByPasskey}
        </Button>
      </div>
      <p className="signed-out-note">
        {words.passkeyAbout} {recovering ? words.passkeyReplaces : null} {words.passkeyLost} <code>{resetCommand}</code>
      </p>
    </>
  )
}

interface SetupFormProps {
  /** `undefined` if scripts are disabled. The person then types the secret. */
  readonly secret: string | undefined
  readonly recovering: boolean
  /** Called if the link has expired since the page showed its purpose. */
  readonly onEnded?: () => void
}

/** The form on the setup page. The person chooses a sign-in method and, for the first account, enters their details. */
const SetupForm = ({ secret, recovering, onEnded }: SetupFormProps) => {
  const signedOut = useWords(signedOutWords)
  const words = useWords(setupWords)
  const offer = useSignInOffer()
  const [capable] = useState(() => typeof window !== "undefined" && passkeysPossible(window.location.hostname))
  const form = useRef<HTMLFormElement>(null)
  const [email, setEmail] = useState(() => enteredBefore("email"))
  const [name, setName] = useState(() => enteredBefore("displayName"))
  const [password, setPassword] = useState(() => enteredBefore("password"))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const byPasskey = capable && offer.passkeys
  // If passkeys are not possible, offer a password even if password sign-in is disabled, because the person needs some way
  // to sign in.
  const byPassword = offer.password || !byPasskey
  const person = (): SetupPerson => ({
    secret: secret ?? "",
    ...(recovering ? {} : { email: email.trim() }),
    ...(recovering || name.trim() === "" ? {} : { displayName: name.trim() })
  })
  const enter = (attempt: Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    attempt.then(
      () => {
        forgetSetupSecret()
        window.location.replace("/")
      },
      (refused: unknown) => {
        setError(refused)
        setBusy(false)
        if (refused instanceof Fault && refused.status === 404) onEnded?.()
      }
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    enter(request("POST", "/auth/setup", { body: { ...person(), password }, keepOn401: true }))
  }
  const withPasskey = () => {
    // To use a passkey, the person has to complete all fields except the password.
    const address = form.current?.querySelector<HTMLInputElement>("input[type=email]")
    if (busy || address?.reportValidity() === false) return
    enter(import("./PasskeySetup.ts").then(({ setUpWithPasskey }) => setUpWithPasskey(person())))
  }
  return (
    <>
      <form ref={form} className="form" method="post" action="/setup" onSubmit={submit}>
        {secret === undefined ? (
          <TextField
            label={words.code}
            helper={words.codeHelp}
            name="secret"
            mono
            required
            autoComplete="off"
            spellCheck={false}
          />
        ) : null}
        {recovering ? null : <PersonFields name={name} email={email} onName={setName} onEmail={setEmail} />}
        {byPassword ? (
          <TextField
            label={recovering ? words.newPassword : signedOut.password}
            helper={signedOut.passwordHelp}
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
      {byPassword && byPasskey ? <p className="signed-out-or">{signedOut.or}</p> : null}
      {byPasskey ? <PasskeyWay recovering={recovering} primary={!byPassword} onPress={withPasskey} /> : null}
      {secret === undefined || capable ? null : (
        <p className="signed-out-note">
          <PasskeyHint offered={offer.passkeys} />
        </p>
      )}
    </>
  )
}

const Link = ({ secret, link, onEnded }: LinkProps) => {
  const words = useWords(setupWords)
  const title = link.purpose === "recovery" ? words.recoverTitle : words.firstTitle
  if (link.state !== "live") {
    return (
      <Frame title={title} about={words.wasFor[link.purpose]}>
        <Ended {...link} />
      </Frame>
    )
  }
  return (
    <Frame title={title} about={link.purpose === "recovery" ? words.recoverAbout(link.email) : words.firstAbout}>
      <p className="signed-out-note">
        {words.until} <Time at={link.expiresAt} />
      </p>
      <SetupForm secret={secret} recovering={link.purpose === "recovery"} onEnded={onEnded} />
    </Frame>
  )
}

const Opened = () => {
  const words = useWords(setupWords)
  const [secret] = useState(() => setupSecret(window.location.hash))
  const [found, ask] = useSetupLink(secret)
  useEffect(() => {
    // Removes the secret from the address bar and the history as soon as it has been read.
    window.history.replaceState(null, "", window.location.pathname)
    // If a second link is opened in this tab, only the fragment changes, so the browser does not reload the page.
    const again = () => window.location.reload()
    window.addEventListener("hashchange", again)
    return () => window.removeEventListener("hashchange", again)
  }, [])
  if (secret !== undefined && found.kind === "link") return <Link secret={secret} link={found.link} onEnded={ask} />
  return (
    <Frame title={words.title} about={words.about}>
      {secret === undefined ? (
        <Unusable reason="incomplete" />
      ) : found.kind === "unknown" ? (
        <Unusable reason="unknown" />
      ) : found.kind === "failed" ? (
        <FaultNotice error={found.error} onRetry={ask} />
      ) : (
        <Skeleton height="block" rows={1} />
      )}
    </Frame>
  )
}

/**
 * The page that a setup link opens. The prerendered page is not for a specific link, and contains the form for browsers
 * without scripts.
 */
export const Setup = () => {
  const words = useWords(setupWords)
  if (typeof window !== "undefined") return <Opened />
  return (
    <Frame title={words.title} about={words.about}>
      <noscript>
        <SetupForm secret={undefined} recovering={false} />
      </noscript>
    </Frame>
  )
}
