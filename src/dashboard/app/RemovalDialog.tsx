import { type QueryKey, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx"
import { useDecision } from "../ui/Decision.ts"

interface RemovalDialogProps {
  readonly title: string
  /** The effect of confirming. */
  readonly children: ReactNode
  /** The consequences, if they take more than a sentence. */
  readonly details?: ReactNode
  /** The label of the button, a verb. */
  readonly action: string
  readonly remove: (signal: AbortSignal) => Promise<unknown>
  /** Follows a removal before the dialog closes. */
  readonly onRemoved?: () => unknown
  /** Key of the query for the list that contains the entry. */
  readonly list: QueryKey
  readonly onClose: () => void
}

/** Asks for confirmation before removing or revoking one entry of a list, and closes when the list shows the change. */
export const RemovalDialog = ({ remove, onRemoved, list, onClose, ...asked }: RemovalDialogProps) => {
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: list })
  const removal = useDecision({
    send: remove,
    onSuccess: async () => {
      await onRemoved?.()
      await refresh()
      onClose()
    },
    // Often refused because the list has changed.
    onError: () => void refresh()
  })
  return <ConfirmDialog {...asked} change={removal} onConfirm={() => removal.mutate()} onClose={onClose} />
}
