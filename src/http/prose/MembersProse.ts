import type { MembersApi } from "../../../schema/api/MembersApi.ts"
import { type GroupProse, route } from "./Prose.ts"
import type { InvitationsApi } from "../../../schema/api/InvitationsApi.ts"
import type { TeamsApi } from "../../../schema/api/TeamsApi.ts"
import type { ApprovalsApi } from "../../../schema/api/ApprovalsApi.ts"

export const approvalsProse: GroupProse<typeof ApprovalsApi> = {
  about: "Rules for the number of approvals.",
  routes: {
    rules: route(
      "List approval rules, oldest first",
      "Every rule that matches a Capsule's Project and environment must be met. If no rule matches, one approval by an admin is enough."
    ),
    createRule: route(
      "Add an approval rule",
      "Applies to every future apply, even of plans that are already approved. Defaults: `role` admin, every Project, environment and team, `planAuthorCounts` false, `commitAuthorCounts` true, `automationCounts` false, `carryOver` off. With `carryOver`, an approval of the change in a speculative plan also approves the plan of the lane that makes the same change, if every matching rule allows it; with `approval_and_apply`, svc also applies that plan."
    ),
    updateRule: route("Change an approval rule", "The changed rule also applies to waiting plans and queued applies."),
    removeRule: route(
      "Remove an approval rule",
      "Its approvals are no longer required. A plan that waited for them needs one more `approve` request."
    ),
    ofRun: route(
      "Read the approvals of a plan, the missing approvals, and the reason why it waits",
      "Decided by the current rules and rights: an approval lapses when its approver loses the right. An approval by somebody in `authors` does not count for a rule with `planAuthorCounts` false: the person who started the plan (`starter`), who created the automation or the token that started it (`automation`), or who turned on or last changed the auto-update that started it (`auto_update`). They are recorded when the plan is created. `problem` gives the reason. `own` is the effect that the caller's approval would have. `uncertain` lists the reasons why the plan may not include objects that exist, and whether an approval has acknowledged each reason. 409 for a Run that is not a plan."
    ),
    ask: route(
      "Ask for approval of a waiting plan",
      "Sends a mail to the people whose approval would count now, if the server sends mail, and shows the request in their attention list. `asked` is their number. Limited to one request per plan and hour (429 `rate_limited` with `Retry-After`). 409 for a Run that is not waiting for approval."
    )
  }
}

export const teamsProse: GroupProse<typeof TeamsApi> = {
  about: "Teams of a Workspace and their roles for Projects and environments.",
  routes: {
    list: route(
      "List teams, oldest first",
      "With their members, and the roles that they add for Projects and environments."
    ),
    create: route(
      "Create a team",
      "Its members must be active members of the Workspace (409). A grant adds a role for the Capsules of a Project and environment, and their Runs; it never removes a role. 409 for a name that is taken."
    ),
    update: route(
      "Change a team",
      "`members` and `grants` replace the previous lists. An approval that counted because of the team lapses with the membership."
    ),
    remove: route("Remove a team", "409 while an approval rule refers to it. Its grants end.")
  }
}

export const invitationsProse: GroupProse<typeof InvitationsApi> = {
  about: "Invitations to a Workspace.",
  routes: {
    list: route(
      "List invitations, newest first",
      "Includes ended invitations with their outcome. A link is never shown again."
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
      "Inspect an invitation",
      "Changes nothing. `signUp` is true if an account may be created with the link; otherwise its holder signs in to an existing account. 404 for an unknown, used, withdrawn or expired link."
    ),
    accept: route(
      "Accept an invitation",
      "Makes the caller a member with the offered role. The inviter's permission is checked again (409 if it has ended). 403 for an invitation to another person, 404 for an unknown, used, withdrawn or expired link, 409 for a member. A repetition by the same person changes nothing. Limited to 20 attempts per minute."
    ),
    decline: route("Decline an invitation", "Requires only the link, which stops working immediately.")
  }
}

export const membersProse: GroupProse<typeof MembersApi> = {
  about: "Members of a Workspace.",
  routes: {
    departure: route(
      "Preview the effects of removing a member",
      "Owners and admins can read it for everybody, and members for themselves. `tokens` lose access to the Workspace; `connections` are no longer used automatically (by updates, drift checks and checks of Sources) on this member's authority; `keptTokens` are the tokens of automations that the member created and may have kept: they work until somebody revokes them. Changes nothing."
    ),
    tokens: route(
      "List the tokens of an automation, oldest first",
      "Name, scopes and limits, expiry and last use. Includes revoked tokens, but never secrets. A person's tokens cannot be listed (404)."
    ),
    createToken: route(
      "Create a token of an automation",
      "An ordinary personal access token, bound to the Workspace; the secret is shown once. Requires a session whose person has recently confirmed their identity. `expiresAt` is at most 366 days ahead. The scopes `project:<id>` and `environment:<name>` limit it: it then reaches only Capsules in the given Projects and environments, with their Runs and states, whether the path or the body refers to them: it can bind a Capsule only to Connections that the Capsule already binds. A suspended automation gets no token (403)."
    ),
    revokeToken: route(
      "Revoke a token of an automation",
      "The server refuses it from the next request. Revoking it again changes nothing."
    )
  }
}
