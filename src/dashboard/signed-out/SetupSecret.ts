import { forgetLinkSecret, linkSecret } from "../api/LinkSecret.ts"

const key = "svc.setup"

/** The secret in the fragment. The browser tab stores the secret until the link has been used. */
export const setupSecret = (hash: string): string | undefined => linkSecret(key, hash)

export const forgetSetupSecret = (): void => forgetLinkSecret(key)
