import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from "@simplewebauthn/browser"
import { request } from "../api/Client.ts"

/**
 * Gets a challenge from the server and the browser's response to it, and sends that response back. Rejects when either refuses.
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
