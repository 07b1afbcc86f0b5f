import { useQueryClient } from "@tanstack/react-query"
import { membersQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { useDecision } from "../../ui/Decision.ts"

/** A change to members or invitations: both lists are fetched again afterwards, whether or not it succeeds. */
export const useMembersChange = <A = void, B = unknown>(change: (signal: AbortSignal, input: A) => Promise<B>) => {
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  return useDecision({
    send: change,
    onSettled: () => queryClient.invalidateQueries({ queryKey: membersQuery(workspace.id).queryKey })
  })
}
