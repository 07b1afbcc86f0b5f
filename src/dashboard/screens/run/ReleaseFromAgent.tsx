import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { agentPoolsRelease } from "../../api/Endpoints.ts"
import { capsuleQuery, runQuery } from "../../api/Queries.ts"
import type { Capsule, Run } from "../../api/Types.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { AreaField, CheckField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { useWords } from "../../words/Words.ts"
import { agentRunWords } from "./AgentWords.ts"
import { useDecision } from "../../ui/Decision.ts"

interface ReleaseProps {
  readonly run: Run
  readonly capsule: Capsule
  /** The fence of the claim that the person saw, so that another agent's claim is not released. */
  readonly fence: number
  readonly onClose: () => void
}

/**
 * Releases a Capsule before its lost agent's lease expires, after a person has confirmed that the agent's tool is no longer
 * running.
 */
export const ReleaseFromAgent = ({ run, capsule, fence, onClose }: ReleaseProps) => {
  const words = useWords(agentRunWords)
  const queryClient = useQueryClient()
  const [isDead, setDead] = useState(false)
  const [reason, setReason] = useState("")
  // The fence at the time when the dialog opened, so that the dialog cannot release a later claim.
  const [seen] = useState(fence)
  const name = useTypedName(capsule.name)
  const release = useDecision({
    send: (signal) =>
      call(agentPoolsRelease, {
        signal,
        params: { runId: run.id },
        body: { fence: seen, toolIsDead: true, ...(reason.trim() === "" ? {} : { reason: reason.trim() }) }
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: runQuery(run.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(words.released)
      onClose()
    }
  })
  return (
    <FormDialog
      title={words.dialogTitle(capsule.name)}
      action={words.releaseAction}
      tone="danger"
      incomplete={!isDead || !name.isTyped}
      change={release}
      onSubmit={() => release.mutate()}
      onClose={onClose}
    >
      <Notice tone="bad">{words.risk}</Notice>
      <p>{words.ends}</p>
      <CheckField
        label={words.isDead}
        helper={words.isDeadHelp}
        checked={isDead}
        onChange={(event) => setDead(event.target.checked)}
      />
      <AreaField
        label={words.reason}
        optional
        rows={2}
        maxLength={2000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {name.field}
    </FormDialog>
  )
}
