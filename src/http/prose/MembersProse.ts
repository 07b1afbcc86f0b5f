import type { MembersApi } from "../../../schema/api/MembersApi.ts"
import { type GroupProse, route } from "./Prose.ts"
import type { InvitationsApi } from "../../../schema/api/InvitationsApi.ts"
import type { TeamsApi } from "../../../schema/api/TeamsApi.ts"
import type { ApprovalsApi } from "../../../schema/api/ApprovalsApi.ts"

export const approvalsProse: GroupProse<typeof ApprovalsApi> = {
  about: "Rules for the number of approvals.",
  routes: {
    rules: route(
      "List rules of approval, oldest first",
      "Every rule that fits a Capsule's Project and environment has to be met. If no rule fits, one approval by an admin is enough."
    ),
    createRule: route(
      "Add a rule of approval",
      "Binds every apply from now on, also of plans that are approved already. Defaults: `role` admin, every Project, environment and team, `planAuthorCounts` false, `commitAuthorCounts` true, `automationCounts` false."
    ),
    updateRule: route(
      "Change a rule of approval",
      "Plans that wait, and applies that are queued, are judged by the changed rule."
    ),
    removeRule: route(
      "Remove a rule of approval",
      "Its approvals are no longer required. A plan that waited for them needs one more call of approve."
    ),
    ofRun: route(
      "Read the approvals of a plan, the missing approvals, and the reason why it waits",
      "Decided by the rules and the rights of this moment: an approval lapses when its approver loses the right. An approval by somebody in `authors` does not count for a rule with `planAuthorCounts` false: the person who started the plan (`starter`), who created the automation or the token that started it (`automation`), or who turned on or last changed the auto-update that started it (`auto_update`). They are recorded when the plan is created. `problem` gives the reason. `own` is the effect of the caller's approval. `uncertain` lists the reasons why the plan may not include objects that exist, and whether an approval has acknowledged each reason. 409 for a Run that is no plan."
    ),
    ask: route(
      "Ask for the approval of a plan that waits",
      "Mails the people whose approval would count now, on a server that sends mail, and shows the request in their list of what needs them. `asked` is their number. Once an hour for each plan, whoever asks: then 429 `rate_limited` with `Retry-After`. 409 for a Run that does not wait for its approval."
    )
  }
}

export const teamsProse: GroupProse<typeof TeamsApi> = {
  about: "Teams of a Workspace and what they may do where.",
  routes: {
    list: route(
      "List teams, oldest first",
      "With their members, and the roles that they add for Projects and environments."
    ),
    create: route(
      "Create a team",
      "Its members have to be active members of the Workspace (409). A grant adds a role for the Capsules of a Project and environment, and their Runs; it never removes a role. 409 for a name that is taken."
    ),
    update: route(
      "Change a team",
      "`members` and `grants` replace what was there. An approval that counted by the team lapses with the membership."
    ),
    remove: route("Remove a team", "409 while an approval rule refers to it. Its grants end.")
  }
}

export const invitationsProse: GroupProse<typeof InvitationsApi> = {
  about: "Invitations to a Workspace.",
  routes: {
    list: route(
      "List invitations, newest first",
      "Ended ones are listed with what became of them. A link is never shown again."
    ),
    create: route(
      "Invite somebody",
      "Returns a link that works once and is shown only once: the server stores its secret as a digest, and the secret is in the fragment, which browsers do not send. Without `email`, anyone who has the link may accept, and `role` is `member` at most. With `email`, only an account with that verified address may accept. If the server sends emails, it also mails an invitation with `email` (`mailed`): the link in the email proves the address, so it can also create an account. The answer is the same whether or not an account has the address. Ends after 7 days, or at `expiresAt` (at most 30 days). An earlier pending invitation of the same address ends."
    ),
    revoke: route(
      "Withdraw an invitation",
      "Its link stops working at once. An invitation that has ended is returned unchanged."
    ),
    inspect: route(
      "See what an invitation leads to",
      "Changes nothing. `signUp` is true if an account may be created with the link; otherwise its holder signs in to an existing account. 404 for an unknown, used, withdrawn or expired link."
    ),
    accept: route(
      "Accept an invitation",
      "Makes the caller a member with the offered role. The inviter's permission is checked again: 409 when they may not any more. 403 for an invitation to another person, 404 for an unknown, used, withdrawn or expired link, 409 for a member. Repeated by the same person it changes nothing. 20 attempts a minute."
    ),
    decline: route("Decline an invitation", "Having the link is enough. It stops working at once.")
  }
}

export const membersProse: GroupProse<typeof MembersApi> = {
  about: "Members of a Workspace.",
  routes: {
    departure: route(
      "Read what a removal would stop",
      "Owners and admins read it of everybody, everybody of themselves. `tokens` stop reaching the Workspace; `connections` are no longer used without a person on this member's authority, by automatic updates, drift checks and checks of Sources; `keptTokens` are the tokens of automations that the member created and may have kept: they work until somebody revokes them. Changes nothing."
    ),
    tokens: route(
      "List the tokens of an automation, oldest first",
      "Name, scopes and limits, expiry and last use; revoked ones included, secrets never. The tokens of a person are their own (404)."
    ),
    createToken: route(
      "Create a token of an automation",
      "An ordinary personal access token, bound to the Workspace; the secret is shown once. Asks for a session whose person confirmed lately that it is them. `expiresAt` is at most 366 days ahead. The scopes `project:<id>` and `environment:<name>` limit it: it then reaches Capsules in one of the named Projects and environments, with their Runs and states, and nothing of the Workspace beyond them, whether the path or the body names it: a Capsule gets no Connection from it that the Capsule does not already bind. A suspended automation gets no token (403)."
    ),
    revokeToken: route(
      "Revoke a token of an automation",
      "It is refused from the next request on. Revoking it again changes nothing."
    )
  }
}
