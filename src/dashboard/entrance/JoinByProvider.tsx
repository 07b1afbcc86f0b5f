import { useState } from "react"
import { request } from "../api/Client.ts"
import { Button } from "../ui/Button.tsx"
import { useWords } from "../words/Words.ts"
import { joinWords } from "./JoinWords.ts"
import { useSignInOffer } from "./SignInOffer.ts"

interface JoinByProviderProps {
  readonly secret: string
  readonly onRefused: (error: unknown) => void
}

/**
 * A new account through the upstream provider, or the person's existing one. The secret is posted, never part of an address.
 */
export const JoinByProvider = ({ secret, onRefused }: JoinByProviderProps) => {
  const words = useWords(joinWords)
  const { provider } = useSignInOffer()
  const [busy, setBusy] = useState(false)
  if (provider === undefined) return null
  const leave = () => {
    setBusy(true)
    request<{ location: string }>("POST", "/auth/upstream/invitation", { body: { secret }, keepOn401: true }).then(
      ({ location }) => window.location.assign(location),
      (refused: unknown) => {
        onRefused(refused)
        setBusy(false)
      }
    )
  }
  return (
    <div className="entrance-ways">
      <Button icon="shield" busy={busy} onClick={leave}>
        {words.byProvider(provider.name)}
      </Button>
    </div>
  )
}
