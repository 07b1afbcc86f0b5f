import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import type { Workspace } from "../api/Types.ts"
import { Icon } from "../ui/Icon.tsx"
import { Menu, MenuItem, MenuSeparator } from "../ui/Menu.tsx"
import { useWords } from "../words/Words.ts"
import { NewWorkspace } from "./NewWorkspace.tsx"
import { useBootstrap } from "./Workspace.ts"
import { appWords } from "./Words.ts"

export const WorkspaceMenu = ({ workspace }: { readonly workspace: Workspace | undefined }) => {
  const words = useWords(appWords)
  const { workspaces } = useBootstrap()
  const navigate = useNavigate()
  const [creating, setCreating] = useState(false)
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button type="button" className="side-workspace">
            <span className="side-mark" aria-hidden="true">
              {(workspace?.displayName ?? "?").slice(0, 1)}
            </span>
            <span className="side-workspace-name">{workspace?.displayName ?? words.workspace}</span>
            <span className="visually-hidden">{words.switchWorkspace}</span>
            <Icon name="updown" />
          </button>
        }
      >
        {workspaces
          .filter((each) => each.archivedAt === undefined || each.id === workspace?.id)
          .map((each) => (
            <MenuItem
              key={each.id}
              detail={each.handle}
              checked={each.id === workspace?.id}
              onSelect={() => void navigate({ to: "/w/$workspace", params: { workspace: each.handle } })}
            >
              {each.displayName}
            </MenuItem>
          ))}
        <MenuSeparator />
        <MenuItem icon="plus" onSelect={() => setCreating(true)}>
          {words.newWorkspace}
        </MenuItem>
      </Menu>
      {creating ? <NewWorkspace onClose={() => setCreating(false)} /> : null}
    </>
  )
}
