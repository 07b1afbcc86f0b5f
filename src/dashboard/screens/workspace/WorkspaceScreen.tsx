import "../../app/Kit.ts"
import { useParams } from "@tanstack/react-router"
import { NotFound } from "../../app/Fallbacks.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { Page } from "../../ui/Layout.tsx"
import { Tabs } from "../../ui/Tabs.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { Tokens } from "../account/Tokens.tsx"
import { Agents } from "./Agents.tsx"
import { Approvals } from "./Approvals.tsx"
import { Backups } from "./Backups.tsx"
import { Members } from "./Members.tsx"
import { Notices } from "./Notices.tsx"
import { Settings } from "./Settings.tsx"
import { Shares } from "./Shares.tsx"
import { workspaceWords } from "./Words.ts"

const tabs = ["members", "approvals", "tokens", "shares", "agents", "backups", "notices", "settings"] as const

export const WorkspaceScreen = () => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const params = useParams({ strict: false })
  const tab = tabs.find((each) => each === (params.tab ?? "members"))
  if (tab === undefined) return <NotFound />
  return (
    <Page title={workspace.displayName} beside={<span className="tag">{terms.role[workspace.role]}</span>}>
      <Tabs
        label={words.sections}
        items={tabs.map((each) => ({
          name: words.tabs[each],
          current: each === tab,
          ...(each === "members"
            ? { to: "/w/$workspace/settings", params: { workspace: workspace.handle } }
            : { to: "/w/$workspace/settings/$tab", params: { workspace: workspace.handle, tab: each } })
        }))}
      />
      {tab === "members" ? <Members /> : null}
      {tab === "approvals" ? <Approvals key={workspace.id} /> : null}
      {tab === "tokens" ? <Tokens workspaceId={workspace.id} /> : null}
      {tab === "shares" ? <Shares key={workspace.id} /> : null}
      {tab === "agents" ? <Agents key={workspace.id} /> : null}
      {tab === "backups" ? <Backups key={workspace.id} /> : null}
      {tab === "notices" ? <Notices key={workspace.id} /> : null}
      {tab === "settings" ? <Settings key={workspace.id} /> : null}
    </Page>
  )
}
