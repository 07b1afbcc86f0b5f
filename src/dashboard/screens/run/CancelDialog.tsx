import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { runsCancel } from "../../api/Endpoints.ts"
import { runQuery } from "../../api/Queries.ts"
import type { Run } from "../../api/Types.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { decisionWords } from "./DecisionWords.ts"
import { useDecision } from "../../ui/Decision.ts"

export const CancelDialog = ({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) => {
  const words = useWords(decisionWords)
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  const [reason, setReason] = useState("")
  const parked = run.status === "waiting_approval"
  const approved = run.status === "succeeded"
  const changes = run.type === "apply" || run.type === "destroy_apply" || run.type === "restore"
  const cancel = useDecision({
    send: (signal) =>
      call(runsCancel, {
        signal,
        params: { runId: run.id },
        body: reason.trim() === "" ? {} : { reason: reason.trim() }
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: runQuery(run.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      onClose()
    }
  })
  return (
    <Dialog title={approved ? words.withdrawTitle : parked ? words.discardTitle : words.cancelTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          cancel.mutate()
        }}
      >
        <p>
          {approved
            ? words.withdrawText
            : parked
              ? words.discardText
              : changes && run.status === "running"
                ? words.cancelApply
                : words.cancelPlan}
        </p>
        <TextField
          label={words.cancelReason}
          optional
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        {cancel.error === null ? null : <FaultNotice error={cancel.error} />}
        <div className="form-actions">
          <Button tone="danger" type="submit" busy={cancel.isPending}>
            {approved ? words.withdraw : parked ? words.discard : words.cancel}
          </Button>
          <Button onClick={onClose}>{parked || approved ? terms.back : words.keepRunning}</Button>
        </div>
      </form>
    </Dialog>
  )
}
