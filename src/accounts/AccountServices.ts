import { Layer } from "effect"
import { AccountCleanup } from "../../actors/account/AccountCleanup.ts"
import { AccessTokens } from "../../actors/account/AccessTokens.ts"
import { AccountNotices } from "../../actors/account/AccountNotices.ts"
import { Accounts } from "../../actors/account/Accounts.ts"
import { AddressChanges } from "../../actors/account/AddressChanges.ts"
import { Confirmations } from "../../actors/account/Confirmations.ts"
import { Operators } from "../../actors/account/Operators.ts"
import { NewPasskeys } from "../../actors/account/NewPasskeys.ts"
import { Passkeys } from "../../actors/account/Passkeys.ts"
import { Passwords } from "../../actors/account/Passwords.ts"
import { PasswordSignIn } from "../../actors/account/PasswordSignIn.ts"
import { SecondFactors } from "../../actors/account/SecondFactors.ts"
import { Sessions } from "../../actors/account/Sessions.ts"
import { SetupLinks } from "../../actors/account/SetupLinks.ts"
import { TokenAuthority } from "../../actors/account/TokenAuthority.ts"
import { TokenUse } from "../../actors/account/TokenUse.ts"
import { UpstreamIdentities } from "../../actors/account/UpstreamIdentities.ts"
import { UpstreamSignIns } from "../../actors/account/UpstreamSignIns.ts"
import { Users } from "../../actors/account/Users.ts"
import { Grants } from "../../actors/identity/Grants.ts"
import { Mails } from "../../actors/mail/Mails.ts"
import { AccountRemoval } from "../../actors/member/AccountRemoval.ts"
import { InvitationAcceptance } from "../../actors/member/InvitationAcceptance.ts"
import { Invitations } from "../../actors/member/Invitations.ts"
import { InvitedSignUp } from "../../actors/member/InvitedSignUp.ts"
import { AutomationMembers } from "../../actors/member/AutomationMembers.ts"
import { Members } from "../../actors/member/Members.ts"
import { UpstreamArrivals } from "../../actors/member/UpstreamArrivals.ts"
import { Memberships } from "../../actors/workspace/Memberships.ts"
import { Projects } from "../../actors/workspace/Projects.ts"
import { Workspaces } from "../../actors/workspace/Workspaces.ts"

const signIns = Layer.mergeAll(AddressChanges.layer, Confirmations.layer, SetupLinks.layer, UpstreamSignIns.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(PasswordSignIn.layer, Passkeys.layer, UpstreamIdentities.layer))
)

const invitations = Layer.mergeAll(Invitations.layer, InvitedSignUp.layer, UpstreamArrivals.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(InvitationAcceptance.layer, signIns))
)

const people = Layer.mergeAll(invitations, AccountRemoval.layer, Members.layer, AutomationMembers.layer).pipe(
  Layer.provide(NewPasskeys.layer),
  Layer.provideMerge(Layer.mergeAll(Users.layer, Sessions.layer, Passwords.layer, SecondFactors.layer)),
  Layer.provideMerge(AccountNotices.layer),
  Layer.provide(Grants.layer)
)

const authority = Accounts.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(TokenAuthority.layer, AccessTokens.layer, AccountCleanup.layer, Operators.layer)),
  Layer.provideMerge(Layer.mergeAll(Memberships.layer, TokenUse.layer, Workspaces.layer, Projects.layer))
)

/** People, their credentials, and the Workspaces they share: everything behind the account and Workspace routes. */
export const accountServices = authority.pipe(Layer.provideMerge(people), Layer.provideMerge(Mails.layer))
