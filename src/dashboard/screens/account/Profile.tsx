import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../../api/Client.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import { useBootstrap } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { profileWords } from "./ProfileWords.ts"
import { accountWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const Rename = ({ present, onClose }: { readonly present: string; readonly onClose: () => void }) => {
  const words = useWords(profileWords)
  const account = useWords(accountWords)
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  const [name, setName] = useState(present)
  const rename = useDecision({
    send: (signal) => post("/auth/profile", { displayName: name.trim() === "" ? null : name.trim() }, { signal }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.changeName}
      action={terms.save}
      change={rename}
      onSubmit={() => rename.mutate()}
      onClose={onClose}
    >
      <TextField
        label={account.name}
        helper={words.nameHelp}
        optional
        autoComplete="name"
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}

const ChangeAddress = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(profileWords)
  const [email, setEmail] = useState("")
  const ask = useDecision({
    send: (signal) => post("/auth/address/link", { email: email.trim() }, { signal }),
    onSuccess: () => {
      toast(words.linkMailed)
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.changeAddress}
      action={words.mailLink}
      change={ask}
      onSubmit={() => ask.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.newAddress}
        helper={words.newAddressHelp}
        type="email"
        autoComplete="email"
        required
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
    </FormDialog>
  )
}

/** The person's profile. */
export const Profile = () => {
  const words = useWords(profileWords)
  const account = useWords(accountWords)
  const { sendsMail, subject } = useBootstrap()
  const [open, setOpen] = useState<"name" | "address">()
  const close = () => setOpen(undefined)
  return (
    <Panel
      title={account.profile}
      actions={
        <>
          <Button small onClick={() => setOpen("name")}>
            {words.changeName}
          </Button>
          {sendsMail ? (
            <Button small onClick={() => setOpen("address")}>
              {words.changeAddress}
            </Button>
          ) : null}
        </>
      }
    >
      <Facts
        columns
        items={[
          [account.name, subject.displayName],
          [account.email, subject.email],
          [account.subject, <CopyText key="id" text={subject.id} />]
        ]}
      />
      {sendsMail ? null : (
        <p className="muted">
          {words.addressHow} <code>svc admin address-link</code>
        </p>
      )}
      {open === "name" ? <Rename present={subject.displayName ?? ""} onClose={close} /> : null}
      {open === "address" ? <ChangeAddress onClose={close} /> : null}
    </Panel>
  )
}
