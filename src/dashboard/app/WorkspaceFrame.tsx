import "./Kit.ts"
import { useQueryClient } from "@tanstack/react-query"
import { Outlet, useParams } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { LinkButton } from "../ui/Button.tsx"
import { Empty } from "../ui/Feedback.tsx"
import { useWords } from "../words/Words.ts"
import { appWords } from "./Words.ts"
import { AutomationBanner } from "./AutomationBanner.tsx"
import { rememberWorkspace } from "./DefaultWorkspace.ts"
import { useOptionalWorkspace } from "./Workspace.ts"

/** Frame for all pages below `/w/{handle}`. It is shown only for a Workspace that the person can access. */
export const WorkspaceFrame = () => {
  const words = useWords(appWords)
  const workspace = useOptionalWorkspace()
  const handle = workspace?.handle
  const { workspace: named } = useParams({ strict: false })
  const queryClient = useQueryClient()
  // Keeps showing the page's Workspace after the person has lost access to it.
  const [last, setLast] = useState(workspace)
  if (workspace !== undefined && workspace !== last) setLast(workspace)
  useEffect(() => {
    if (handle !== undefined) rememberWorkspace(handle)
    // Removes the Workspace's data from memory, so that none of its lists is read again.
    else queryClient.removeQueries({ predicate: ({ queryKey: [kind] }) => kind !== "bootstrap" })
  }, [handle, queryClient])
  if (workspace === undefined && last !== undefined && last.handle === named) {
    return (
      <Empty
        whole
        icon="people"
        title={words.removedTitle(last.displayName)}
        action={<LinkButton to="/">{words.goHome}</LinkButton>}
      >
        <p>{words.removedText}</p>
      </Empty>
    )
  }
  if (workspace === undefined) {
    return (
      <Empty whole icon="people" title={words.noWorkspaceTitle} action={<LinkButton to="/">{words.goHome}</LinkButton>}>
        <p>{words.noWorkspaceText}</p>
      </Empty>
    )
  }
  // The component's key is the Workspace, so that text and data from one Workspace never appear in another.
  return (
    <>
      <AutomationBanner workspace={workspace} />
      <Outlet key={workspace.id} />
    </>
  )
}
