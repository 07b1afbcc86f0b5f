import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from "@simplewebauthn/browser"
import { post } from "../../api/Client.ts"
import type { Passkey } from "../../api/Types.ts"

/** Creates a passkey for this server in the browser, and stores its public key on the server. */
export const registerPasskey = async (name: string, signal: AbortSignal): Promise<Passkey> => {
  const { options } = await post<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    "/auth/passkeys/registration-options",
    {},
    { signal }
  )
  const response = await startRegistration({ optionsJSON: options })
  return (await post<{ passkey: Passkey }>("/auth/passkeys", { name, response }, { signal })).passkey
}
