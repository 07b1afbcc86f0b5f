import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { runsRollbackPlan } from "../../api/Endpoints.ts"
import type { StateVersion } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CheckField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

/** Asks for the reason for a rollback, and for the condition that removes the resulting pin. */
export const Rollback = ({ version, onClose }: { readonly version: StateVersion; readonly onClose: () => void }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const [reason, setReason] = useState("")
  const [resumeOnNewCommit, setResume] = useState(false)
  const rollback = useDecision({
    send: (signal) =>
      call(runsRollbackPlan, {
        signal,
        params: { stateVersionId: version.id },
        body: { resumeOnNewCommit, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) }
      }),
    onSuccess: ({ run }) =>
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
  })
  return (
    <FormDialog
      title={words.rollbackTitle(version.generation)}
      action={words.rollbackDo}
      change={rollback}
      onSubmit={() => rollback.mutate()}
      onClose={onClose}
    >
      <p>{words.rollbackText}</p>
      <TextField
        label={words.rollbackReason}
        optional
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <CheckField
        label={words.rollbackResume}
        helper={words.rollbackResumeHelp}
        checked={resumeOnNewCommit}
        onChange={(event) => setResume(event.target.checked)}
      />
    </FormDialog>
  )
}
