import { useState } from "react"
import { DocsLink } from "../../ui/DocsPage.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { type Forge, forgeNames, forgeOf, forges, forgeWords } from "./ForgeWords.ts"

/**
 * The buttons to click and the values to paste in the Git server. The forge is guessed from the address, or selected by the
 * person.
 */
export const ForgeSteps = ({ sourceUrl }: { readonly sourceUrl: string }) => {
  const words = useWords(forgeWords)
  const [chosen, setChosen] = useState<Forge>()
  const forge = chosen ?? forgeOf(sourceUrl)
  return (
    <>
      <SelectField
        label={words.forge}
        value={forge}
        onChange={(event) => setChosen(forges.find((one) => one === event.target.value))}
      >
        {forges.map((one) => (
          <option key={one} value={one}>
            {forgeNames[one] ?? words.another}
          </option>
        ))}
      </SelectField>
      <ol className="steps">
        {words.steps[forge].map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p className="muted">
        {words.more} <DocsLink page={`docs/webhooks/${forge}.md`} />
      </p>
    </>
  )
}
