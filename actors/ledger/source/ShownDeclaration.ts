import type { InputFacts } from "../../../schema/records/CompatibilityReport.ts"
import { present } from "../run/RunRow.ts"

/** Up to this length, a form shows these in full; anything longer has to be read in the module's own text. */
const longestDefault = 2000
const longestType = 2000

const upTo = (length: number, text: string | undefined) =>
  text === undefined || text.length > length ? undefined : text

/** The parts of an input's declaration that forms show. A secret input's default is left out. */
export const shownDeclaration = (
  { defaultJson, description, typeExpression }: InputFacts,
  secret: boolean
): InputFacts =>
  present({
    description,
    typeExpression: upTo(longestType, typeExpression),
    defaultJson: secret ? undefined : upTo(longestDefault, defaultJson)
  })
