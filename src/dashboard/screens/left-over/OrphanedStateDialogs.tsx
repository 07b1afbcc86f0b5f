import { useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { leftOverStatesAdopt, leftOverStatesDiscard } from "../../api/Endpoints.ts"
import { capsuleQuery } from "../../api/Queries.ts"
import type { Capsule, OrphanedState } from "../../api/Types.ts"
import { CopyText } from "../../ui/CopyText.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { useWords } from "../../words/Words.ts"
import { orphanedStateWords } from "./OrphanedStateWords.ts"
import { useDecision } from "../../ui/Decision.ts"

interface DecisionProps {
  readonly capsule: Capsule
  readonly leftOver: OrphanedState
  readonly onClose: () => void
}

interface ConfirmProps extends DecisionProps {
  readonly title: string
  readonly action: string
  readonly done: string
  readonly decide: (signal: AbortSignal) => Promise<unknown>
  readonly children: ReactNode
}

/** Asks the person to type the Capsule's name before an irreversible action. */
const Confirm = ({ action, capsule, children, decide, done, onClose, title }: ConfirmProps) => {
  const queryClient = useQueryClient()
  const name = useTypedName(capsule.name)
  // Besides the decision's own refresh, refreshes the Capsule's states, Outputs and orphaned states.
  const refresh = () => queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
  const decision = useDecision({
    send: decide,
    onSuccess: async () => {
      await refresh()
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(done)
      onClose()
    },
    // After a refusal, reads the obstacles and the guard again.
    onError: () => void refresh()
  })
  return (
    <FormDialog
      title={title}
      action={action}
      tone="danger"
      incomplete={!name.isTyped}
      change={decision}
      onSubmit={() => decision.mutate()}
      onClose={onClose}
    >
      {children}
      {name.field}
    </FormDialog>
  )
}

export const AdoptDialog = (props: DecisionProps) => {
  const text = useWords(orphanedStateWords)
  const { capsule, leftOver } = props
  const [key] = useState(newIdempotencyKey)
  const decide = (signal: AbortSignal) =>
    call(leftOverStatesAdopt, {
      signal,
      params: { capsuleId: capsule.id, leftOverStateId: leftOver.id },
      body: {
        confirm: capsule.name,
        expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
      },
      idempotencyKey: key
    })
  return (
    <Confirm {...props} title={text.adoptTitle(capsule.name)} action={text.adopt} done={text.adopted} decide={decide}>
      <p>{text.adoptText}</p>
    </Confirm>
  )
}

export const DiscardDialog = (props: DecisionProps) => {
  const text = useWords(orphanedStateWords)
  const { capsule, leftOver } = props
  const decide = (signal: AbortSignal) =>
    call(leftOverStatesDiscard, { signal, params: { capsuleId: capsule.id, leftOverStateId: leftOver.id } })
  return (
    <Confirm {...props} title={text.discardTitle} action={text.discard} done={text.discarded} decide={decide}>
      <p>{text.discardText}</p>
      <CopyText text={`svc admin left-over-states download ${leftOver.id} --out ${leftOver.id}.tfstate`} />
    </Confirm>
  )
}
