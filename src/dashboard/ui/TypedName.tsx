import { useState } from "react"
import { visibleText } from "../../../schema/records/VisibleText.ts"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { TextField } from "./Field.tsx"

/**
 * A field for typing the name of the target of an irreversible action. In addition, returns true if the typed name matches.
 */
export const useTypedName = (name: string, helper?: string) => {
  const terms = useWords(vocabulary)
  const [typed, setTyped] = useState("")
  return {
    // The name is shown with escaped invisible characters. It may be typed or pasted in either form.
    isTyped: [name, visibleText(name)].includes(typed.trim()),
    field: (
      <TextField
        label={terms.typeName(name)}
        helper={helper}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
    )
  }
}
