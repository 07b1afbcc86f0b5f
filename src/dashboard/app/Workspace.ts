import { useSuspenseQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { bootstrapQuery } from "../api/Queries.ts"
import type { Role, Workspace } from "../api/Types.ts"
import { defaultWorkspace } from "./DefaultWorkspace.ts"

const rank: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 }

export const roleReaches = (role: Role, needed: Role): boolean => rank[role] >= rank[needed]

export const useBootstrap = () => useSuspenseQuery(bootstrapQuery).data

/** The Workspace in the address, or the default Workspace. */
export const useOptionalWorkspace = (): Workspace | undefined => {
  const { workspaces, selectedWorkspaceId } = useBootstrap()
  const { workspace: handle } = useParams({ strict: false })
  return handle === undefined
    ? defaultWorkspace(workspaces, selectedWorkspaceId)
    : workspaces.find((workspace) => workspace.handle === handle)
}

/** Use it only below `WorkspaceFrame`, which has checked the Workspace. */
export const useWorkspace = (): Workspace => {
  const workspace = useOptionalWorkspace()
  if (workspace === undefined) throw new Error("No workspace is selected.")
  return workspace
}

export const useMay = (): ((needed: Role) => boolean) => {
  const { role } = useWorkspace()
  return (needed) => roleReaches(role, needed)
}
