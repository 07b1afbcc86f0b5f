import type { InputFacts } from "../../../schema/records/CompatibilityReport.ts"
import { present } from "../run/RunRow.ts"

/** Maximum length that a form shows in full; longer text has to be read in the module itself. */
const longestDefault = 2000
const longestType = 2000

const upTo = (length: number, text: string | undefined) =>
  text === undefined || text.length > length ? undefined : text

/** The parts of an input's declaration that forms show. A secret input's default is omitted. */
export const shownDeclaration = (
  { defaultJson, description, typeExpression }: InputFacts,
  secret: boolean
): InputFacts =>
  present({
    description,
    typeExpression: upTo(longestType, typeExpression),
    defaultJson: secret ? undefined : upTo(longestDefault, defaultJson)
  })
