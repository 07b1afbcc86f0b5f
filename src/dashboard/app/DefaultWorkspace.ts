import type { Workspace } from "../api/Types.ts"

const remembered = "svc.workspace"

export const rememberWorkspace = (handle: string): void => {
  try {
    localStorage.setItem(remembered, handle)
  } catch {
    // If the browser has no storage, the server chooses the Workspace next time.
  }
}

const lastHandle = (): string | null => {
  try {
    return localStorage.getItem(remembered)
  } catch {
    return null
  }
}

/**
 * The Workspace to open if the address contains none: the Workspace last used in this browser, the Workspace that the server
 * chooses, or the first Workspace.
 */
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
