import { useQueryClient } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { approvalsAsk } from "../../api/Endpoints.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { attentionWords } from "./AttentionWords.ts"

/** Asks the people who may approve a plan to do so. The server sends at most one request per hour. */
export const AskApproval = ({ runId, of }: { readonly runId: string; readonly of: string | undefined }) => {
  const words = useWords(attentionWords)
  const may = useMay()
  const queryClient = useQueryClient()
  const ask = useDecision({
    send: (signal) => call(approvalsAsk, { signal, params: { runId }, body: {} }),
    onSuccess: ({ approvalRequest }) => {
      toast(words.asked(approvalRequest.asked))
      return queryClient.invalidateQueries({ queryKey: ["workspace"] })
    }
  })
  if (!may("member")) return null
  return (
    <>
      <Button small of={of} busy={ask.isPending} onClick={() => ask.mutate()}>
        {words.ask}
      </Button>
      {ask.error === null ? null : (
        <div className="need-fault">
          <FaultNotice error={ask.error} />
        </div>
      )}
    </>
  )
}
