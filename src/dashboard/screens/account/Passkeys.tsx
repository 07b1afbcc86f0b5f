import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { request } from "../../api/Client.ts"
import { Fault } from "../../api/Fault.ts"
import { passkeysPossible } from "../../api/PasskeySupport.ts"
import { passkeysQuery } from "../../api/AccountQueries.ts"
import type { Passkey } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { Empty, FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { PasskeyHint } from "../../ui/PasskeyHint.tsx"
import { Time } from "../../ui/Time.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { useSignInOffer } from "../../signed-out/SignInOffer.ts"
import { accountWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const Add = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  const [name, setName] = useState("")
  const add = useDecision({
    send: async (signal) => (await import("./PasskeyRegistration.ts")).registerPasskey(name.trim(), signal),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: passkeysQuery.queryKey })
      onClose()
    }
  })
  return (
    <Dialog title={words.addPasskey} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          add.mutate()
        }}
      >
        <TextField
          label={words.passkeyName}
          helper={words.passkeyNameHelp}
          required
          maxLength={80}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {add.error === null ? null : add.error instanceof Fault ? (
          <FaultNotice error={add.error} />
        ) : (
          <Notice tone="bad">{words.passkeyRefused}</Notice>
        )}
        <div className="form-actions">
          <Button tone="primary" type="submit" busy={add.isPending}>
            {words.addPasskey}
          </Button>
          <Button onClick={onClose}>{terms.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}

const Row = ({ passkey }: { readonly passkey: Passkey }) => {
  const words = useWords(accountWords)
  const terms = useWords(vocabulary)
  const [removing, setRemoving] = useState(false)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{passkey.name}</strong>
        <span className="muted">
          {words.created} <Time at={passkey.createdAt} />
          {passkey.lastUsedAt === null ? "" : " · "}
          {passkey.lastUsedAt === null ? null : (
            <>
              {words.lastUsed} <Time at={passkey.lastUsedAt} />
            </>
          )}
          {passkey.backedUp ? ` · ${words.synced}` : ""}
        </span>
      </span>
      <span className="row-end">
        <Button small of={passkey.name} onClick={() => setRemoving(true)}>
          {terms.remove}
        </Button>
      </span>
      {removing ? (
        <RemovalDialog
          title={words.removeTitle(passkey.name)}
          action={terms.remove}
          remove={(signal) => request("DELETE", `/auth/passkeys/${encodeURIComponent(passkey.id)}`, { signal })}
          list={passkeysQuery.queryKey}
          onClose={() => setRemoving(false)}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

export const Passkeys = () => {
  const words = useWords(accountWords)
  const { passkeys: offered } = useSignInOffer()
  const query = useQuery(passkeysQuery)
  const [adding, setAdding] = useState(false)
  const possible = passkeysPossible(window.location.hostname)
  // If the server does not support passkeys, this route does not exist, so the page omits the list.
  if (query.error instanceof Fault && query.error.status === 404) return null
  return (
    <Panel
      flush
      title={words.passkeys}
      about={words.passkeysAbout}
      actions={
        possible ? (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            {words.addPasskey}
          </Button>
        ) : null
      }
    >
      <Loadable query={query}>
        {(passkeys) =>
          passkeys.length === 0 ? (
            <Empty icon="shield" title={words.passkeysNone}>
              <p>{possible ? words.passkeysNoneText : <PasskeyHint offered={offered} />}</p>
            </Empty>
          ) : (
            <>
              <ul className="rows">
                {passkeys.map((passkey) => (
                  <Row key={passkey.id} passkey={passkey} />
                ))}
              </ul>
              {possible ? null : (
                <p className="panel-foot muted">
                  <PasskeyHint offered={offered} />
                </p>
              )}
            </>
          )
        }
      </Loadable>
      {adding ? <Add onClose={() => setAdding(false)} /> : null}
    </Panel>
  )
}
