import { useNavigate } from "@tanstack/react-router"
import { post } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { setPreferences } from "../preferences/Preferences.ts"
import { usePreferences } from "../preferences/UsePreferences.ts"
import { docsPage } from "../ui/DocsPage.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Menu, MenuChoice, MenuItem, MenuSeparator } from "../ui/Menu.tsx"
import { warn } from "../ui/Toast.tsx"
import { useWords } from "../words/Words.ts"
import { useBootstrap } from "./Workspace.ts"
import { appWords } from "./Words.ts"

const signOut = (failed: string): void => {
  // The response is ignored, because the next page requests the current sign-in status from the server. If there is no
  // response, the current page stays open.
  void post("/auth/sign-out", {}, { keepOn401: true, signal: new AbortController().signal }).then(
    () => window.location.assign("/sign-in"),
    (error: unknown) => {
      if (error instanceof Fault && error.status === 0) warn(failed)
      else window.location.assign("/sign-in")
    }
  )
}

export const AccountMenu = ({ onHelp }: { readonly onHelp: () => void }) => {
  const words = useWords(appWords)
  const { subject } = useBootstrap()
  const { theme, language } = usePreferences()
  const navigate = useNavigate()
  return (
    <Menu
      align="start"
      side="top"
      trigger={
        <button type="button" className="side-account">
          <Icon name="person" />
          <span className="side-account-name">{subject.displayName ?? subject.email ?? subject.id}</span>
          <span className="visually-hidden">{words.accountMenu}</span>
          <Icon name="updown" />
        </button>
      }
    >
      <MenuItem icon="person" onSelect={() => void navigate({ to: "/account" })}>
        {words.account}
      </MenuItem>
      <MenuItem icon="book" detail="?" onSelect={onHelp}>
        {words.shortcuts}
      </MenuItem>
      <MenuItem icon="external" onSelect={() => window.location.assign(docsPage())}>
        {words.documentation}
      </MenuItem>
      <MenuSeparator />
      <MenuChoice
        label={words.theme}
        value={theme}
        options={[
          ["system", words.themes.system],
          ["light", words.themes.light],
          ["dark", words.themes.dark]
        ]}
        onChange={(value) => setPreferences({ theme: value })}
      />
      <MenuSeparator />
      <MenuChoice
        label={words.language}
        value={language}
        options={[
          ["en", "English"],
          ["ja", "日本語"]
        ]}
        onChange={(value) => setPreferences({ language: value })}
      />
      <MenuSeparator />
      <MenuItem onSelect={() => signOut(words.signOutFailed)}>{words.signOut}</MenuItem>
    </Menu>
  )
}
