import { type FormEvent, useEffect, useRef, useState } from "react"
import { shortestPassword } from "../../../schema/records/Password.ts"
import { call } from "../api/Call.ts"
import { request } from "../api/Client.ts"
import { invitationsAccept, invitationsDecline, invitationsInspect } from "../api/Endpoints.ts"
import { Fault } from "../api/Fault.ts"
import type { InvitationPreview } from "../api/Types.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice } from "../ui/Feedback.tsx"
import { Time } from "../ui/Time.tsx"
import { useWords } from "../words/Words.ts"
import { Frame } from "./Frame.tsx"
import { joinWords } from "./JoinWords.ts"
import { forgetLinkSecret, linkSecret } from "../api/LinkSecret.ts"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import { TextField } from "../ui/Field.tsx"
import { PasskeyHint } from "../ui/PasskeyHint.tsx"
import { useSignInOffer } from "./SignInOffer.ts"
import { signedOutWords } from "./Words.ts"

interface JoinByProviderProps {
  readonly secret: string
  readonly onRefused: (error: unknown) => void
}

/** Accepts with a new or existing account of the upstream provider. The secret is posted and never part of an address. */
const JoinByProvider = ({ secret, onRefused }: JoinByProviderProps) => {
  const words = useWords(joinWords)
  const { provider } = useSignInOffer()
  const [busy, setBusy] = useState(false)
  if (provider === undefined) return null
  const leave = () => {
    setBusy(true)
    request<{ location: string }>("POST", "/auth/upstream/invitation", { body: { secret }, keepOn401: true }).then(
      ({ location }) => window.location.assign(location),
      (refused: unknown) => {
        onRefused(refused)
        setBusy(false)
      }
    )
  }
  return (
    <div className="signed-out-ways">
      <Button icon="shield" busy={busy} onClick={leave}>
        {words.byProvider(provider.name)}
      </Button>
    </div>
  )
}

const key = "svc.invitation"

/** The secret in the fragment. The browser tab stores the secret until the person has answered the invitation. */
const invitationSecret = (hash: string): string | undefined => linkSecret(key, hash)

const forgetInvitation = (): void => forgetLinkSecret(key)

/** `undefined` while unknown, and `null` if nobody is signed in. */
type Visitor = { readonly email: string } | null | undefined

const useVisitor = (): Visitor => {
  const [visitor, setVisitor] = useState<Visitor>(undefined)
  useEffect(() => {
    const gone = new AbortController()
    request<{ user: { email: string } }>("GET", "/auth/session", { signal: gone.signal, keepOn401: true }).then(
      ({ user }) => setVisitor(user),
      () => (gone.signal.aborted ? undefined : setVisitor(null))
    )
    return () => gone.abort()
  }, [])
  return visitor
}

type Found = InvitationPreview | "refused" | undefined

const useInvitation = (secret: string | undefined): Found => {
  const [found, setFound] = useState<Found>(secret === undefined ? "refused" : undefined)
  useEffect(() => {
    if (secret === undefined) return
    const gone = new AbortController()
    call(invitationsInspect, { body: { secret }, signal: gone.signal }).then(
      ({ invitation }) => setFound(invitation),
      () => (gone.signal.aborted ? undefined : setFound("refused"))
    )
    return () => gone.abort()
  }, [secret])
  return found
}

/** Opens the sign-in page. The browser tab stores the secret, so the address does not have to contain it. */
const signIn = () => window.location.assign("/sign-in?return=/join")
const signInAsOther = () =>
  void request("POST", "/auth/sign-out", { body: {}, keepOn401: true }).then(signIn, () => undefined)

/** On this page, an answer to an invitation cannot be cancelled once it is sent. */
const kept = new AbortController().signal

interface AnswerProps {
  readonly secret: string
  readonly invitation: InvitationPreview
  readonly visitor: Visitor
  readonly onDeclined: () => void
}

interface JoinSignUpProps {
  readonly secret: string
  /** The invitation's address, which cannot be changed. */
  readonly email: string | undefined
  readonly busy: boolean
  readonly onEnter: (attempt: Promise<unknown>) => void
}

/** Creates a new account to accept the invitation. */
const JoinSignUp = ({ secret, email: given, busy, onEnter }: JoinSignUpProps) => {
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

const Answer = ({ secret, invitation, visitor, onDeclined }: AnswerProps) => {
  const words = useWords(joinWords)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const run = (attempt: Promise<unknown>, done: () => void) => {
    setBusy(true)
    setError(undefined)
    attempt.then(
      () => {
        forgetInvitation()
        done()
      },
      (refused: unknown) => {
        setError(refused)
        setBusy(false)
      }
    )
  }
  const enter = () =>
    window.location.replace(invitation.workspace === undefined ? "/" : `/w/${invitation.workspace.handle}`)
  return (
    <>
      {error === undefined ? null : error instanceof Fault && error.status === 0 ? (
        <FaultNotice error={error} />
      ) : (
        <Notice tone="bad">{error instanceof Fault && error.message !== "" ? error.message : words.failed}</Notice>
      )}
      {visitor === undefined ? null : visitor === null ? (
        <>
          {invitation.signUp ? (
            <JoinSignUp
              secret={secret}
              email={invitation.email}
              busy={busy}
              onEnter={(attempt) => run(attempt, enter)}
            />
          ) : (
            <p className="signed-out-note">{words.onlySignIn}</p>
          )}
          <JoinByProvider secret={secret} onRefused={setError} />
          <div className="signed-out-ways">
            <Button tone={invitation.signUp ? "plain" : "primary"} onClick={signIn}>
              {words.haveAccount}
            </Button>
          </div>
        </>
      ) : (
        <div className="signed-out-ways">
          <p className="signed-out-note">{words.signedInAs(visitor.email)}</p>
          <Button
            tone="primary"
            busy={busy}
            onClick={() => run(call(invitationsAccept, { body: { secret }, signal: kept }), enter)}
          >
            {words.accept}
          </Button>
          <Button onClick={signInAsOther}>{words.other}</Button>
        </div>
      )}
      <div className="signed-out-ways">
        <Button
          tone="quiet"
          busy={busy}
          onClick={() => run(call(invitationsDecline, { body: { secret }, signal: kept }), onDeclined)}
        >
          {words.decline}
        </Button>
      </div>
    </>
  )
}

/** Describes an invitation and lets the person answer it. */
export const Join = () => {
  const words = useWords(joinWords)
  // There is no URL during prerendering.
  const [secret] = useState(() => (typeof window === "undefined" ? "" : invitationSecret(window.location.hash)))
  const found = useInvitation(secret)
  const visitor = useVisitor()
  const [declined, setDeclined] = useState(false)
  useEffect(() => {
    // Removes the secret from the address bar and the history as soon as it has been read.
    window.history.replaceState(null, "", window.location.pathname)
    // If a second link is opened in this tab, only the fragment changes, so the browser does not reload the page.
    const again = () => window.location.reload()
    window.addEventListener("hashchange", again)
    return () => window.removeEventListener("hashchange", again)
  }, [])
  if (declined) return <Frame title={words.title} about={words.declined} />
  if (found === "refused") return <Frame title={words.refusedTitle} about={words.refused} />
  if (found === undefined || secret === undefined) {
    return <Frame title={words.title} about={words.about} />
  }
  const { email, expiresAt, invitedBy, offeredRole, role, workspace } = found
  return (
    <Frame
      title={workspace === undefined ? words.titleServer : words.titleOf(workspace.displayName)}
      about={invitedBy === undefined ? words.about : words.invitedBy(invitedBy)}
    >
      <p>{role === undefined ? words.serverAbout : words.role[role]}</p>
      {offeredRole === undefined ? null : <p>{words.offered[offeredRole]}</p>}
      <p className="signed-out-note">
        {email === undefined ? null : `${words.meantFor(email)} `}
        {words.until} <Time at={expiresAt} />
      </p>
      <Answer secret={secret} invitation={found} visitor={visitor} onDeclined={() => setDeclined(true)} />
    </Frame>
  )
}
