import { type QueryKey, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx"
import { useDecision } from "../ui/Decision.ts"

interface RemovalDialogProps {
  readonly title: string
  /** Text that describes the effect of the removal. */
  readonly children: ReactNode
  /** The consequences, if a sentence is not enough to describe them. */
  readonly details?: ReactNode
  /** A verb, used as the label of the button. */
  readonly action: string
  readonly remove: (signal: AbortSignal) => Promise<unknown>
  /** Called after a removal, before the dialog closes. */
  readonly onRemoved?: () => unknown
  /** Key of the query for the list that contains the entry. */
  readonly list: QueryKey
  readonly onClose: () => void
}

/** Asks for confirmation before an entry of a list is removed or revoked. Closes when the list shows the change. */
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
    // A removal is often refused because the list has changed in the meantime.
    onError: () => void refresh()
  })
  return <ConfirmDialog {...asked} change={removal} onConfirm={() => removal.mutate()} onClose={onClose} />
}
