import { useQuery } from "@tanstack/react-query"
import { outputSharesQuery } from "../../api/Queries.ts"
import { useWorkspace } from "../../app/Workspace.ts"

/** Returns the shares that other Workspaces have granted to this Workspace. */
export const useGivenShares = () => {
  const workspace = useWorkspace()
  const shares = useQuery(outputSharesQuery(workspace.id)).data ?? []
  return shares.filter(({ status, toWorkspaceId }) => status === "active" && toWorkspaceId === workspace.id)
}
