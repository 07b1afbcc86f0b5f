import "./Kit.ts"
import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { confirmationQuery } from "../api/AccountQueries.ts"
import { post, signInUrl } from "../api/Client.ts"
import { settleConfirmation } from "../api/Confirmation.ts"
import { Fault } from "../api/Fault.ts"
import { passkeysPossible } from "../api/PasskeySupport.ts"
import type { Confirmation } from "../api/Types.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { FaultNotice, Loadable, Notice } from "../ui/Feedback.tsx"
import { TextField } from "../ui/Field.tsx"
import { Icon } from "../ui/Icon.tsx"
import { useWords } from "../words/Words.ts"
import { confirmIdentityWords } from "./ConfirmIdentityWords.ts"
import { useDecision } from "../ui/Decision.ts"

const here = (): string => `${window.location.pathname}${window.location.search}`

const Refusal = ({ error }: { readonly error: unknown }) => {
  const words = useWords(confirmIdentityWords)
  if (!(error instanceof Fault)) return <Notice tone="bad">{words.passkeyRefused}</Notice>
  if (error.code === "second_factor_required") return <Notice tone="bad">{words.wrongCode}</Notice>
  return error.code === "permission_denied" ? (
    <Notice tone="bad">{words.wrongPassword}</Notice>
  ) : (
    <FaultNotice error={error} />
  )
}

const ByPassword = ({ asksCode }: { readonly asksCode: boolean }) => {
  const words = useWords(confirmIdentityWords)
  const [password, setPassword] = useState("")
  const [code, setCode] = useState("")
  const confirm = useDecision({
    // A wrong code causes a 401 response, which must not be treated as an expired session.
    send: (signal) =>
      post(
        "/auth/confirmation/password",
        { password, ...(asksCode ? { code: code.trim() } : {}) },
        { keepOn401: true, signal }
      ),
    onSuccess: () => settleConfirmation(true)
  })
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        confirm.mutate()
      }}
    >
      <TextField
        label={words.password}
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {asksCode ? (
        <TextField
          label={words.code}
          autoComplete="one-time-code"
          required
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      ) : null}
      {confirm.error === null ? null : <Refusal error={confirm.error} />}
      <Button tone="primary" type="submit" busy={confirm.isPending}>
        {words.confirm}
      </Button>
    </form>
  )
}

const ByPasskey = ({ primary }: { readonly primary: boolean }) => {
  const words = useWords(confirmIdentityWords)
  const confirm = useDecision({
    send: async (signal) => (await import("./PasskeyConfirmation.ts")).confirmWithPasskey(signal),
    onSuccess: () => settleConfirmation(true)
  })
  const refused = confirm.error instanceof Fault && confirm.error.code === "permission_denied"
  return (
    <>
      <Button
        icon="connection"
        tone={primary ? "primary" : "plain"}
        busy={confirm.isPending}
        onClick={() => confirm.mutate()}
      >
        {words.byPasskey}
      </Button>
      {confirm.error === null ? null : <Refusal error={refused ? undefined : confirm.error} />}
    </>
  )
}

const ByProvider = ({ name }: { readonly name: string }) => {
  const words = useWords(confirmIdentityWords)
  return (
    <>
      <a
        className="button button-plain"
        href={`/auth/upstream/start?confirm=true&return=${encodeURIComponent(here())}`}
      >
        <Icon name="shield" />
        {words.byProvider(name)}
      </a>
      <p className="muted">{words.byProviderText}</p>
    </>
  )
}

const Ways = ({ ways }: { readonly ways: Confirmation }) => {
  const words = useWords(confirmIdentityWords)
  const passkeys = ways.passkeys && passkeysPossible(window.location.hostname)
  const { password, provider } = ways
  if (!password && !passkeys && provider === undefined) {
    return (
      <>
        <p>{words.noWay}</p>
        <a className="button button-primary" href={signInUrl(window.location)}>
          {words.signInAgain}
        </a>
      </>
    )
  }
  return (
    <>
      <p>{words.text}</p>
      {password ? <ByPassword asksCode={ways.code} /> : null}
      {password && (passkeys || provider !== undefined) ? <p className="signed-out-or">{words.or}</p> : null}
      {passkeys ? <ByPasskey primary={!password} /> : null}
      {provider === undefined ? null : <ByProvider name={provider.name} />}
    </>
  )
}

/**
 * The identity prompt that all sensitive actions share. It appears when the server requires confirmation, and the waiting
 * requests continue afterwards.
 */
export const ConfirmIdentity = () => {
  const words = useWords(confirmIdentityWords)
  const query = useQuery(confirmationQuery)
  return (
    <Dialog title={words.title} onClose={() => settleConfirmation(false)}>
      <div className="form">
        <Loadable query={query}>{(ways) => <Ways ways={ways} />}</Loadable>
      </div>
    </Dialog>
  )
}
