import "../../app/Kit.ts"
import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { workspacesSetAutomation } from "../../api/Endpoints.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { workspaceWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

/** The setting that enables or disables all Runs in the Workspace that were not started by a person. */
export const AutomationSwitch = () => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const [reason, setReason] = useState("")
  const isPaused = workspace.automationPause !== undefined
  const change = useDecision({
    send: (signal, body: { readonly paused: boolean; readonly reason?: string }) =>
      call(workspacesSetAutomation, { signal, params: { workspaceId: workspace.id }, body }),
    onSuccess: () => {
      setReason("")
      toast(terms.saved)
    },
    onSettled: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: ["workspace", workspace.id] })
      ])
  })
  return (
    <Panel title={words.automation}>
      <p>{words.automationText}</p>
      {change.error === null ? null : <FaultNotice error={change.error} />}
      {may("admin") ? (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault()
            const why = reason.trim()
            change.mutate({ paused: !isPaused, ...(isPaused || why === "" ? {} : { reason: why }) })
          }}
        >
          {isPaused ? null : (
            <TextField
              label={words.automationReason}
              helper={words.automationReasonHelp}
              optional
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
          <div className="form-actions">
            <Button type="submit" tone={isPaused ? "primary" : "plain"} busy={change.isPending}>
              {isPaused ? words.automationResume : words.automationPause}
            </Button>
          </div>
        </form>
      ) : null}
    </Panel>
  )
}
