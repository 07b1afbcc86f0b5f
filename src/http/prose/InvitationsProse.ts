import type { InvitationsApi } from "../../../schema/api/InvitationsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const invitationsProse: GroupProse<typeof InvitationsApi> = {
  about: "Invitations to a Workspace.",
  routes: {
    list: route(
      "List invitations, newest first",
      "Ended ones are listed with what became of them. A link is never shown again."
    ),
    create: route(
      "Invite somebody",
      "Answers a link that works once and is shown this once: its secret is stored as a digest, and stands in the fragment, which browsers do not send. Without `email` whoever has the link may accept, and `role` is `member` at most; with `email` only an account for which that address was verified may. Where the server sends mails, an invitation with `email` is mailed as well (`mailed`): the link of the mail proves the address, so it creates an account too. The answer is the same whether or not an account has the address. Ends after 7 days, or at `expiresAt` (at most 30 days). An earlier pending invitation of the same address ends."
    ),
    revoke: route("Withdraw an invitation", "Its link stops working at once. One that has ended is answered as it is."),
    inspect: route(
      "See what an invitation leads to",
      "Changes nothing. `signUp` says whether an account may be created with the link; otherwise its holder signs in to an existing one. 404 for an unknown, used, withdrawn or expired link."
    ),
    accept: route(
      "Accept an invitation",
      "Makes the caller a member with the offered role. What the inviter may grant is checked again: 409 when they may not any more. 403 for an invitation of somebody else, 404 for an unknown, used, withdrawn or expired link, 409 for a member. Repeated by the same person it changes nothing. 20 attempts a minute."
    ),
    decline: route("Decline an invitation", "Having the link is enough. It stops working at once.")
  }
}
