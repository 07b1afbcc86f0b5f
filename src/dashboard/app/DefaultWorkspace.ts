import type { Workspace } from "../api/Types.ts"

const remembered = "svc.workspace"

export const rememberWorkspace = (handle: string): void => {
  try {
    localStorage.setItem(remembered, handle)
  } catch {
    // Without storage, the server chooses the Workspace next time.
  }
}

const lastHandle = (): string | null => {
  try {
    return localStorage.getItem(remembered)
  } catch {
    return null
  }
}

/** The Workspace to open for an address without one: the last one used in this browser, the server's choice, or the first. */
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
