import { namedOrigin } from "../api/PasskeySupport.ts"
import { useWords } from "../words/Words.ts"
import { passkeyWords } from "./PasskeyWords.ts"
import { TextWithCode } from "./TextWithCode.tsx"

/** Explains why this page offers no passkeys, and how to enable them. `offered` is true if the server itself offers passkeys. */
export const PasskeyHint = ({ offered }: { readonly offered: boolean }) => {
  const words = useWords(passkeyWords)
  // A prerendered page has no address.
  if (typeof window === "undefined") return null
  const origin = namedOrigin(window.location)
  return (
    <TextWithCode
      text={origin === undefined ? words.unavailable : offered ? words.openByName(origin) : words.serveByName(origin)}
    />
  )
}
