import type { InputFacts } from "../../../schema/records/CompatibilityReport.ts"
import { present } from "../run/RunRow.ts"

/** Maximum length of a default that a form shows in full. */
const longestDefault = 2000
const longestType = 2000

const upTo = (length: number, text: string | undefined) =>
  text === undefined || text.length > length ? undefined : text

/** Returns the parts of an input's declaration that forms show. Omits the default of a secret input. */
export const shownDeclaration = (
  { defaultJson, description, typeExpression }: InputFacts,
  secret: boolean
): InputFacts =>
  present({
    description,
    typeExpression: upTo(longestType, typeExpression),
    defaultJson: secret ? undefined : upTo(longestDefault, defaultJson)
  })
