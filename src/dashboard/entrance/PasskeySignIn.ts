import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from "@simplewebauthn/browser"
import { request } from "../api/Client.ts"

/** Asks the server for a challenge, the browser for an answer, and hands it back. Rejects when either says no. */
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
