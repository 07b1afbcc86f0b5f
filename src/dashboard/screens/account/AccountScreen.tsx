import "../../app/Kit.ts"
import { useBootstrap } from "../../app/Workspace.ts"
import { appWords } from "../../app/Words.ts"
import { setPreferences } from "../../preferences/Preferences.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { CheckField, SelectField } from "../../ui/Field.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { Applications } from "./Applications.tsx"
import { ChangePassword } from "./ChangePassword.tsx"
import { Identities } from "./Identities.tsx"
import { NoticeMails } from "./NoticeMails.tsx"
import { Notices } from "./Notices.tsx"
import { Passkeys } from "./Passkeys.tsx"
import { Profile } from "./Profile.tsx"
import { SecondFactor } from "./SecondFactor.tsx"
import { Sessions } from "./Sessions.tsx"
import { Tokens } from "./Tokens.tsx"
import { accountWords } from "./Words.ts"

const isTheme = (value: string): value is "system" | "light" | "dark" =>
  value === "system" || value === "light" || value === "dark"

export const AccountScreen = () => {
  const words = useWords(accountWords)
  const app = useWords(appWords)
  const { capabilities, version } = useBootstrap()
  const { theme, language, letterKeys } = usePreferences()
  return (
    <Page title={words.title}>
      <Notices />
      <Profile />
      <Passkeys />
      {capabilities.auth.oidc ? <Identities /> : null}
      {capabilities.auth.password ? (
        <>
          <ChangePassword />
          <SecondFactor />
        </>
      ) : null}
      <Sessions />
      <Applications />
      <Tokens />
      <NoticeMails />
      <Panel title={words.appearance}>
        <div className="form">
          <div className="form-pair">
            <SelectField
              label={words.theme}
              value={theme}
              onChange={(event) =>
                isTheme(event.target.value) ? setPreferences({ theme: event.target.value }) : undefined
              }
            >
              <option value="system">{words.themes.system}</option>
              <option value="light">{words.themes.light}</option>
              <option value="dark">{words.themes.dark}</option>
            </SelectField>
            <SelectField
              label={words.language}
              value={language}
              onChange={(event) => setPreferences({ language: event.target.value === "ja" ? "ja" : "en" })}
            >
              <option value="en">English</option>
              <option value="ja">日本語</option>
            </SelectField>
          </div>
          <CheckField
            label={words.letterKeys}
            helper={words.letterKeysHelp}
            checked={letterKeys}
            onChange={(event) => setPreferences({ letterKeys: event.target.checked })}
          />
        </div>
      </Panel>
      <p className="muted version">{app.version(version)}</p>
    </Page>
  )
}
