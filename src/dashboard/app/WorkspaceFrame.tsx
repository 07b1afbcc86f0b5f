import "./Kit.ts"
import { Outlet } from "@tanstack/react-router"
import { useEffect } from "react"
import { LinkButton } from "../ui/Button.tsx"
import { Empty } from "../ui/Feedback.tsx"
import { useWords } from "../words/Words.ts"
import { appWords } from "./Words.ts"
import { AutomationBanner } from "./AutomationBanner.tsx"
import { rememberWorkspace } from "./DefaultWorkspace.ts"
import { useOptionalWorkspace } from "./Workspace.ts"

/** Everything below `/w/{handle}`: only for a Workspace that the caller can see. */
export const WorkspaceFrame = () => {
  const words = useWords(appWords)
  const workspace = useOptionalWorkspace()
  const handle = workspace?.handle
  useEffect(() => {
    if (handle !== undefined) rememberWorkspace(handle)
  }, [handle])
  if (workspace === undefined) {
    return (
      <Empty whole icon="people" title={words.noWorkspaceTitle} action={<LinkButton to="/">{words.goHome}</LinkButton>}>
        <p>{words.noWorkspaceText}</p>
      </Empty>
    )
  }
  // Keyed by Workspace: nothing typed or fetched for one carries over to another.
  return (
    <>
      <AutomationBanner workspace={workspace} />
      <Outlet key={workspace.id} />
    </>
  )
}
