import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { shortestPassword } from "../../../../schema/records/Password.ts"
import { post } from "../../api/Client.ts"
import { sessionsQuery } from "../../api/AccountQueries.ts"
import { Button } from "../../ui/Button.tsx"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { accountWords } from "./Words.ts"

const Change = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const queryClient = useQueryClient()
  const [newPassword, setNew] = useState("")
  const change = useMutation({
    mutationFn: () => post("/auth/password", { newPassword }),
    onSuccess: () => {
      onClose()
      toast(words.passwordChanged)
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    }
  })
  return (
    <FormDialog
      title={words.changePassword}
      action={words.changePassword}
      change={change}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
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
  const [changing, setChanging] = useState(false)
  return (
    <Panel
      title={words.password}
      actions={
        <Button small onClick={() => setChanging(true)}>
          {words.changePassword}
        </Button>
      }
    >
      <p className="muted">{words.passwordAbout}</p>
      {changing ? <Change onClose={() => setChanging(false)} /> : null}
    </Panel>
  )
}
