import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../../api/Client.ts"
import { sessionsQuery } from "../../api/Queries.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { accountWords } from "./Words.ts"

export const ChangePassword = () => {
  const words = useWords(accountWords)
  const queryClient = useQueryClient()
  const [currentPassword, setCurrent] = useState("")
  const [newPassword, setNew] = useState("")
  const change = useMutation({
    // A wrong current password is a 401 that must not look like an ended session.
    mutationFn: () => post("/auth/password", { currentPassword, newPassword }, { keepOn401: true }),
    onSuccess: () => {
      setCurrent("")
      setNew("")
      toast(words.passwordChanged)
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    }
  })
  return (
    <Panel title={words.password}>
      <details className="fold">
        <summary>{words.changePassword}</summary>
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault()
            change.mutate()
          }}
        >
          <div className="form-pair">
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
          </div>
          {change.error === null ? null : <FaultNotice error={change.error} />}
          <div className="form-actions">
            <Button tone="primary" type="submit" busy={change.isPending}>
              {words.changePassword}
            </Button>
          </div>
        </form>
      </details>
    </Panel>
  )
}
