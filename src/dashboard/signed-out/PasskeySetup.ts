import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from "@simplewebauthn/browser"
import { request } from "../api/Client.ts"
import { deviceName } from "../ui/DeviceName.ts"

/** Email address and name for the first account. An existing account already has both. */
export interface SetupPerson {
  readonly secret: string
  readonly email?: string
  readonly displayName?: string
}

/** The routes for a setup link or an invitation. */
type LinkRoutes = "/auth/setup" | "/auth/invitations"

/** Redeems a link with a new passkey. Rejects if the browser or the server refuses. */
export const setUpWithPasskey = async (person: SetupPerson, routes: LinkRoutes = "/auth/setup"): Promise<void> => {
  const { options } = await request<{ options: PublicKeyCredentialCreationOptionsJSON }>(
    "POST",
    `${routes}/passkey-options`,
    { body: person, keepOn401: true }
  )
  const response = await startRegistration({ optionsJSON: options })
  const name = deviceName(navigator.userAgent) ?? options.user.displayName.slice(0, 80)
  await request("POST", `${routes}/passkey`, { body: { ...person, name, response }, keepOn401: true })
}
