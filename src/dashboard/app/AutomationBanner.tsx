import "./Kit.ts"
import type { Workspace } from "../api/Types.ts"
import { LinkButton } from "../ui/Button.tsx"
import { Notice } from "../ui/Feedback.tsx"
import { Time } from "../ui/Time.tsx"
import { useWords } from "../words/Words.ts"
import { useActorName } from "./Actors.ts"
import { appWords } from "./Words.ts"

/** A banner on every page of a Workspace whose automation is paused. It shows who paused the automation, when and why. */
export const AutomationBanner = ({ workspace }: { readonly workspace: Workspace }) => {
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
