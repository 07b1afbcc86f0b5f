import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import type { Capsule } from "../api/Types.ts"
import { useWords } from "../words/Words.ts"
import { vocabulary } from "../words/Vocabulary.ts"

/** The options of a Capsule select: an empty option, followed by all existing Capsules. */
export const CapsuleOptions = ({ capsules }: { readonly capsules: ReadonlyArray<Capsule> }) => {
  const terms = useWords(vocabulary)
  return (
    <>
      <option value="">{terms.choose}</option>
      {capsules
        .filter(({ status }) => !isEnded(status))
        .map(({ environment, id, name }) => (
          <option key={id} value={id}>
            {name} · {environment}
          </option>
        ))}
    </>
  )
}
