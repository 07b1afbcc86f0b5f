import { forgetLinkSecret, linkSecret } from "../api/LinkSecret.ts"

const key = "svc.invitation"

/** The fragment is the secret; the tab keeps it until the invitation has been answered. */
export const invitationSecret = (hash: string): string | undefined => linkSecret(key, hash)

export const forgetInvitation = (): void => forgetLinkSecret(key)
