import { namedOrigin } from "../api/PasskeySupport.ts"
import { useWords } from "../words/Words.ts"
import { passkeyWords } from "./PasskeyWords.ts"
import { TextWithCode } from "./TextWithCode.tsx"

/** Explains why this page offers no passkeys, and how to get them. `offered`: the server itself offers passkeys. */
export const PasskeyHint = ({ offered }: { readonly offered: boolean }) => {
  const words = useWords(passkeyWords)
  // A page rendered ahead of time has no address yet.
  if (typeof window === "undefined") return null
  const origin = namedOrigin(window.location)
  return (
    <TextWithCode
      text={origin === undefined ? words.unavailable : offered ? words.openByName(origin) : words.serveByName(origin)}
    />
  )
}
