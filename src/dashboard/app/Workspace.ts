import { useSuspenseQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { bootstrapQuery } from "../api/Queries.ts"
import type { Role, Workspace } from "../api/Types.ts"

const rank: Readonly<Record<Role, number>> = { viewer: 0, member: 1, admin: 2, owner: 3 }

export const roleReaches = (role: Role, needed: Role): boolean => rank[role] >= rank[needed]

const remembered = "svc.workspace"

export const rememberWorkspace = (handle: string): void => {
  try {
    localStorage.setItem(remembered, handle)
  } catch {
    // Without storage the server's choice is used the next time.
  }
}

const lastHandle = (): string | null => {
  try {
    return localStorage.getItem(remembered)
  } catch {
    return null
  }
}

/** The Workspace to open when the address names none: the last one used here, the server's choice, then the first. */
export const defaultWorkspace = (
  workspaces: ReadonlyArray<Workspace>,
  selectedId: string | undefined
): Workspace | undefined => {
  const open = workspaces.filter((workspace) => workspace.archivedAt === undefined)
  const last = lastHandle()
  return (
    open.find((workspace) => workspace.handle === last) ??
    open.find((workspace) => workspace.id === selectedId) ??
    open[0] ??
    workspaces[0]
  )
}

export const useBootstrap = () => useSuspenseQuery(bootstrapQuery).data

/** The Workspace that the address names, or else the default one. */
export const useOptionalWorkspace = (): Workspace | undefined => {
  const { workspaces, selectedWorkspaceId } = useBootstrap()
  const { workspace: handle } = useParams({ strict: false })
  return handle === undefined
    ? defaultWorkspace(workspaces, selectedWorkspaceId)
    : workspaces.find((workspace) => workspace.handle === handle)
}

/** Only below a route that has checked it (`WorkspaceFrame`). */
export const useWorkspace = (): Workspace => {
  const workspace = useOptionalWorkspace()
  if (workspace === undefined) throw new Error("No workspace is selected.")
  return workspace
}

export const useMay = (): ((needed: Role) => boolean) => {
  const { role } = useWorkspace()
  return (needed) => roleReaches(role, needed)
}
