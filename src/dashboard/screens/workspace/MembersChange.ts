import { useMutation, useQueryClient } from "@tanstack/react-query"
import { membersQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"

/** A change to members or invitations: both lists are fetched again afterwards, whether or not it succeeds. */
export const useMembersChange = <A, B>(change: (input: A) => Promise<B>) => {
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => queryClient.invalidateQueries({ queryKey: membersQuery(workspace.id).queryKey })
  })
}
