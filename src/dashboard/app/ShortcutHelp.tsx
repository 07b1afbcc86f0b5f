import { setPreferences } from "../preferences/Preferences.ts"
import { usePreferences } from "../preferences/UsePreferences.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { docsPage } from "../ui/DocsPage.tsx"
import { CheckField } from "../ui/Field.tsx"
import { useWords } from "../words/Words.ts"
import { goKeys } from "./Shortcuts.ts"
import { appWords } from "./Words.ts"

export const ShortcutHelp = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(appWords)
  const { letterKeys } = usePreferences()
  const rows: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
    [["Ctrl/⌘", "K"], words.palette],
    [["/"], words.keySearch],
    [["n"], words.keyInstall],
    ...Object.entries(goKeys).map(([key, target]): readonly [ReadonlyArray<string>, string] => [
      ["g", key],
      words[target]
    ]),
    [["a"], words.keyApprove],
    [["d"], words.keyDiscard],
    [["l"], words.keyLog],
    [["?"], words.keyHelp]
  ]
  return (
    <Dialog title={words.shortcuts} onClose={onClose}>
      <dl className="keys">
        {rows.map(([keys, label]) => (
          <div key={label}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <CheckField
        label={words.letterKeys}
        helper={words.letterKeysHelp}
        checked={letterKeys}
        onChange={(event) => setPreferences({ letterKeys: event.target.checked })}
      />
      <p>
        <a href={docsPage()}>{words.documentation}</a>
      </p>
    </Dialog>
  )
}
