import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { shortestPassword } from "../../../../schema/records/Password.ts"
import { post } from "../../api/Client.ts"
import { confirmationQuery, sessionsQuery } from "../../api/AccountQueries.ts"
import { Button } from "../../ui/Button.tsx"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { profileWords } from "./ProfileWords.ts"
import { accountWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const PasswordDialog = ({ title, onClose }: { readonly title: string; readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const queryClient = useQueryClient()
  const [newPassword, setNew] = useState("")
  const change = useDecision({
    send: (signal) => post("/auth/password", { newPassword }, { signal }),
    onSuccess: () => {
      onClose()
      toast(words.passwordChanged)
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: confirmationQuery.queryKey })
    }
  })
  return (
    <FormDialog title={title} action={title} change={change} onSubmit={() => change.mutate()} onClose={onClose}>
      <TextField
        label={words.newPassword}
        helper={words.newPasswordHelp}
        type="password"
        autoComplete="new-password"
        required
        minLength={shortestPassword}
        value={newPassword}
        onChange={(event) => setNew(event.target.value)}
      />
    </FormDialog>
  )
}

export const ChangePassword = () => {
  const words = useWords(accountWords)
  const profile = useWords(profileWords)
  const [changing, setChanging] = useState(false)
  // A person who signs in only with a passkey has no current password.
  const isFirst = useQuery(confirmationQuery).data?.password === false
  const title = isFirst ? profile.setPassword : words.changePassword
  return (
    <Panel
      title={words.password}
      actions={
        <Button small onClick={() => setChanging(true)}>
          {title}
        </Button>
      }
    >
      <p className="muted">{isFirst ? profile.setPasswordAbout : words.passwordAbout}</p>
      {changing ? <PasswordDialog title={title} onClose={() => setChanging(false)} /> : null}
    </Panel>
  )
}
