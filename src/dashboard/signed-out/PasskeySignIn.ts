import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from "@simplewebauthn/browser"
import { request } from "../api/Client.ts"

/**
 * Signs in with a passkey: gets a challenge from the server, and returns the browser's response. Rejects if the browser or the
 * server refuses.
 */
export const signInWithPasskey = async (): Promise<void> => {
  const { options } = await request<{ options: PublicKeyCredentialRequestOptionsJSON }>(
    "POST",
    "/auth/passkeys/sign-in-options",
    {
      body: {},
      keepOn401: true
    }
  )
  const response = await startAuthentication({ optionsJSON: options })
  await request("POST", "/auth/passkeys/sign-in", { body: { response }, keepOn401: true })
}
