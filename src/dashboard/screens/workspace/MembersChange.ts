import { useQueryClient } from "@tanstack/react-query"
import { membersQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { useDecision } from "../../ui/Decision.ts"

/** A change to members or invitations. Both lists are fetched again afterwards, even if the change fails. */
export const useMembersChange = <A = void, B = unknown>(change: (signal: AbortSignal, input: A) => Promise<B>) => {
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  return useDecision({
    send: change,
    onSettled: () => queryClient.invalidateQueries({ queryKey: membersQuery(workspace.id).queryKey })
  })
}
