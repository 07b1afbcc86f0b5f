import { type FormEvent, useEffect, useState } from "react"
import { request } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { Button } from "../ui/Button.tsx"
import { FaultNotice, Notice } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { useWords } from "../words/Words.ts"
import { Frame } from "./Frame.tsx"
import { entranceWords } from "./Words.ts"

/** The fragment is `#<secret>` or `#secret=<secret>`; it never reaches the server's logs. */
export const setupSecret = (hash: string): string | undefined => {
  const text = hash.replace(/^#/, "")
  const secret = text.startsWith("secret=") ? text.slice("secret=".length) : text
  return secret === "" ? undefined : decodeURIComponent(secret)
}

const linkCommand = "svc admin setup-link"

const Refusal = ({ error }: { readonly error: unknown }) => {
  const words = useWords(entranceWords)
  if (
    error instanceof Fault &&
    (error.status === 401 || error.status === 403 || error.status === 404 || error.status === 410)
  ) {
    return (
      <Notice tone="bad">
        <p>
          {words.setupRefused} <code>{linkCommand}</code>
        </p>
      </Notice>
    )
  }
  return <FaultNotice error={error} />
}

export const Setup = () => {
  const words = useWords(entranceWords)
  // Rendered ahead of time there is no address to read yet; the form shows.
  const [secret] = useState(() => (typeof window === "undefined" ? "" : setupSecret(window.location.hash)))
  const [email, setEmail] = useState("")
  const [name, setName] = useState("")
  const [password, setPassword] = useState("")
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    // The secret leaves the address bar and the history as soon as it is read.
    window.history.replaceState(null, "", window.location.pathname)
  }, [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    const displayName = name.trim()
    request("POST", "/auth/setup", {
      body: {
        secret,
        password,
        ...(email.trim() === "" ? {} : { email: email.trim() }),
        ...(displayName === "" ? {} : { displayName })
      },
      keepOn401: true
    }).then(
      () => window.location.replace("/"),
      (refused: unknown) => {
        setError(refused)
        setBusy(false)
      }
    )
  }
  return (
    <Frame title={words.setupTitle} about={words.setupAbout}>
      {secret === undefined ? (
        <Notice tone="warn" title={words.setupNoSecret}>
          <p>
            {words.setupNoSecretText} <code>{linkCommand}</code>
          </p>
        </Notice>
      ) : (
        <form className="form" onSubmit={submit}>
          <TextField
            label={words.displayName}
            helper={words.displayNameHelp}
            optional
            autoComplete="name"
            maxLength={80}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <TextField
            label={words.email}
            type="email"
            autoComplete="username"
            helper={words.emailFirst}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <TextField
            label={words.password}
            helper={words.passwordHelp}
            type="password"
            autoComplete="new-password"
            required
            minLength={12}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
          {error === undefined ? null : <Refusal error={error} />}
          <Button tone="primary" type="submit" busy={busy}>
            {words.create}
          </Button>
        </form>
      )}
    </Frame>
  )
}
