import type { Workspace } from "../api/Types.ts"
import "./Kit.ts"
import { useQueryClient } from "@tanstack/react-query"
import { Outlet, useParams } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { LinkButton } from "../ui/Button.tsx"
import { Empty, Notice } from "../ui/Feedback.tsx"
import { Time } from "../ui/Time.tsx"
import { useWords } from "../words/Words.ts"
import { useActorName } from "./Actors.ts"
import { appWords } from "./Words.ts"
import { rememberWorkspace } from "./DefaultWorkspace.ts"
import { useOptionalWorkspace } from "./Workspace.ts"

/** A banner on every page of a Workspace whose automation is paused. It shows who paused the automation, when and why. */
const AutomationBanner = ({ workspace }: { readonly workspace: Workspace }) => {
  const words = useWords(appWords)
  const actorName = useActorName()
  const pause = workspace.automationPause
  if (pause === undefined) return null
  return (
    <Notice tone="warn" title={words.automationPaused}>
      <p>{words.automationPausedText}</p>
      <p>
        {words.automationPausedBy(actorName(pause.by))} · <Time at={pause.at} />
        {pause.reason === undefined ? null : <> · {pause.reason}</>}
      </p>
      <LinkButton small to="/w/$workspace/settings/$tab" params={{ workspace: workspace.handle, tab: "settings" }}>
        {words.automationSettings}
      </LinkButton>
    </Notice>
  )
}

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
