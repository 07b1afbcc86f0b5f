import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from "@simplewebauthn/browser"
import { post } from "../api/Client.ts"

/** Confirms the person's identity with one of their passkeys. Rejects if the browser or the server refuses. */
export const confirmWithPasskey = async (signal: AbortSignal): Promise<void> => {
  const { options } = await post<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    "/auth/confirmation/passkey-options",
    {},
    { signal }
  )
  const response = await startAuthentication({ optionsJSON: options })
  await post("/auth/confirmation/passkey", { response }, { signal })
}
