import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../../api/Client.ts"
import { sessionsQuery } from "../../api/AccountQueries.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { accountWords } from "./Words.ts"

const Change = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  const [currentPassword, setCurrent] = useState("")
  const [newPassword, setNew] = useState("")
  const change = useMutation({
    // A wrong current password is a 401 that must not look like an ended session.
    mutationFn: () => post("/auth/password", { currentPassword, newPassword }, { keepOn401: true }),
    onSuccess: () => {
      onClose()
      toast(words.passwordChanged)
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    }
  })
  return (
    <Dialog title={words.changePassword} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        <TextField
          label={words.currentPassword}
          type="password"
          autoComplete="current-password"
          required
          value={currentPassword}
          onChange={(event) => setCurrent(event.target.value)}
        />
        <TextField
          label={words.newPassword}
          helper={words.newPasswordHelp}
          type="password"
          autoComplete="new-password"
          required
          minLength={12}
          value={newPassword}
          onChange={(event) => setNew(event.target.value)}
        />
        {change.error === null ? null : <FaultNotice error={change.error} />}
        <div className="form-actions">
          <Button tone="primary" type="submit" busy={change.isPending}>
            {words.changePassword}
          </Button>
          <Button onClick={onClose}>{terms.cancel}</Button>
        </div>
      </form>
    </Dialog>
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
