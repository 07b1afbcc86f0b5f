import { useQuery, useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useState } from "react"
import { confirmationQuery, noticesQuery, secondFactorQuery } from "../../api/AccountQueries.ts"
import { post, request } from "../../api/Client.ts"
import { whenReachable } from "../../api/Reachability.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Status } from "../../ui/Status.tsx"
import { useWords } from "../../words/Words.ts"
import { factorWords } from "./FactorWords.ts"
import { useDecision } from "../../ui/Decision.ts"

interface Begun {
  readonly secret: string
  readonly uri: string
}
interface Codes {
  readonly recoveryCodes: ReadonlyArray<string>
}

const useRefresh = () => {
  const queryClient = useQueryClient()
  return () =>
    Promise.all(
      [secondFactorQuery, confirmationQuery, noticesQuery].map(({ queryKey }) =>
        queryClient.invalidateQueries({ queryKey })
      )
    )
}

const CodesOnce = ({ codes, onClose }: { readonly codes: Codes; readonly onClose: () => void }) => {
  const words = useWords(factorWords)
  return (
    <SecretOnce
      title={words.codesTitle}
      text={words.codesText}
      secret={codes.recoveryCodes.join("\n")}
      done={words.done}
      onClose={onClose}
    />
  )
}

const QrCode = lazy(whenReachable(async () => ({ default: (await import("./QrCode.tsx")).QrCode })))

/** Shows the key in groups of four characters, so that people do not lose their place when they copy the key by hand. */
const grouped = (secret: string): string => secret.match(/.{1,4}/g)?.join(" ") ?? secret

const SetUp = ({ begun, onClose }: { readonly begun: Begun; readonly onClose: () => void }) => {
  const words = useWords(factorWords)
  const refresh = useRefresh()
  const [code, setCode] = useState("")
  const activate = useDecision({
    // A wrong code causes a 401 response, which must not be treated as an expired session.
    send: (signal) => post<Codes>("/auth/second-factor/activate", { code: code.trim() }, { keepOn401: true, signal })
  })
  const finish = () => {
    onClose()
    // Refreshes the data only when the dialog is done, because once the factor is active, refreshing removes this dialog.
    void refresh()
  }
  if (activate.data !== undefined) return <CodesOnce codes={activate.data} onClose={finish} />
  return (
    <FormDialog
      title={words.title}
      action={words.activate}
      change={activate}
      onSubmit={() => activate.mutate()}
      onClose={onClose}
    >
      <p>{words.setUpText}</p>
      <Suspense fallback={<div className="qr-code" />}>
        <QrCode text={begun.uri} label={words.picture} />
      </Suspense>
      <div className="secret-once">
        <CopyText text={begun.secret} shown={grouped(begun.secret)} />
      </div>
      <p>
        <a href={begun.uri}>{words.open}</a>
      </p>
      <TextField
        label={words.code}
        autoComplete="one-time-code"
        inputMode="numeric"
        required
        value={code}
        onChange={(event) => setCode(event.target.value)}
      />
    </FormDialog>
  )
}

/** The key is generated on request, after the person has confirmed their identity. */
const Begin = () => {
  const words = useWords(factorWords)
  const [open, setOpen] = useState(false)
  const begin = useDecision({
    send: (signal) => post<Begun>("/auth/second-factor", {}, { signal }),
    onSuccess: () => setOpen(true)
  })
  return (
    <>
      {begin.error === null ? null : <FaultNotice error={begin.error} />}
      <Button small busy={begin.isPending} onClick={() => begin.mutate()}>
        {words.setUp}
      </Button>
      {open && begin.data !== undefined ? <SetUp begun={begin.data} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

const Renew = () => {
  const words = useWords(factorWords)
  const refresh = useRefresh()
  const [open, setOpen] = useState(false)
  const renew = useDecision({
    send: (signal) => post<Codes>("/auth/second-factor/recovery-codes", {}, { signal }),
    onSuccess: refresh
  })
  const close = () => {
    setOpen(false)
    renew.reset()
  }
  return (
    <>
      <Button small onClick={() => setOpen(true)}>
        {words.renew}
      </Button>
      {!open ? null : renew.data === undefined ? (
        <ConfirmDialog
          title={words.renewTitle}
          action={words.renew}
          change={renew}
          onConfirm={() => renew.mutate()}
          onClose={close}
        >
          {words.renewText}
        </ConfirmDialog>
      ) : (
        <CodesOnce codes={renew.data} onClose={close} />
      )}
    </>
  )
}

const Remove = () => {
  const words = useWords(factorWords)
  const refresh = useRefresh()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button small onClick={() => setAsking(true)}>
        {words.remove}
      </Button>
      {asking ? (
        <RemovalDialog
          title={words.removeTitle}
          action={words.remove}
          remove={(signal) => request("DELETE", "/auth/second-factor", { signal }).then(refresh)}
          list={secondFactorQuery.queryKey}
          onClose={() => setAsking(false)}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
    </>
  )
}

/** The second factor for password sign-in. */
export const SecondFactor = () => {
  const words = useWords(factorWords)
  const query = useQuery(secondFactorQuery)
  const active = query.data?.active === true
  return (
    <Panel
      title={words.title}
      about={words.about}
      actions={
        active ? (
          <>
            <Renew />
            <Remove />
          </>
        ) : null
      }
    >
      <Loadable query={query}>
        {(factor) => (
          <>
            <p>
              <Status tone={factor.active ? "good" : "muted"}>{factor.active ? words.on : words.off}</Status>
            </p>
            <p className="muted">{factor.active ? words.codesLeft(factor.recoveryCodes) : words.offText}</p>
            {factor.active ? null : <Begin />}
          </>
        )}
      </Loadable>
    </Panel>
  )
}
