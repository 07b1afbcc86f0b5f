import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { ConfirmDialog } from "../ui/ConfirmDialog.tsx"

interface RemovalDialogProps {
  readonly title: string
  /** The effect of confirming. */
  readonly children: ReactNode
  /** The consequences, if they take more than a sentence. */
  readonly details?: ReactNode
  /** The label of the button, a verb. */
  readonly action: string
  readonly remove: () => Promise<unknown>
  /** Key of the query for the list that contains the entry. */
  readonly list: QueryKey
  readonly onClose: () => void
}

/** Asks for confirmation before removing or revoking one entry of a list, and closes when the list shows the change. */
export const RemovalDialog = ({ remove, list, onClose, ...asked }: RemovalDialogProps) => {
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: list })
  const removal = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      await refresh()
      onClose()
    },
    // Often refused because the list has changed.
    onError: () => void refresh()
  })
  return <ConfirmDialog {...asked} change={removal} onConfirm={() => removal.mutate()} onClose={onClose} />
}
