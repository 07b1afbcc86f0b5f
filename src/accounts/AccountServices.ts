import { Layer } from "effect"
import { AccountCleanup } from "../../actors/access/account/AccountCleanup.ts"
import { AccessTokens } from "../../actors/access/account/AccessTokens.ts"
import { ActionConfirmations } from "../../actors/access/account/ActionConfirmations.ts"
import { AccountNotices } from "../../actors/access/account/AccountNotices.ts"
import { Accounts } from "../../actors/access/account/Accounts.ts"
import { AddressChanges } from "../../actors/access/account/AddressChanges.ts"
import { Confirmations } from "../../actors/access/account/Confirmations.ts"
import { Operators } from "../../actors/access/account/Operators.ts"
import { NewPasskeys } from "../../actors/access/account/NewPasskeys.ts"
import { Passkeys } from "../../actors/access/account/Passkeys.ts"
import { Passwords } from "../../actors/access/account/Passwords.ts"
import { PasswordSignIn } from "../../actors/access/account/PasswordSignIn.ts"
import { SecondFactors } from "../../actors/access/account/SecondFactors.ts"
import { Sessions } from "../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../actors/access/account/SetupLinks.ts"
import { TokenAuthority } from "../../actors/access/account/TokenAuthority.ts"
import { TokenUse } from "../../actors/access/account/TokenUse.ts"
import { UpstreamIdentities } from "../../actors/access/account/UpstreamIdentities.ts"
import { UpstreamSignIns } from "../../actors/access/account/UpstreamSignIns.ts"
import { Users } from "../../actors/access/account/Users.ts"
import { Grants } from "../../actors/access/issuer/Grants.ts"
import { Mails } from "../../actors/base/mail/Mails.ts"
import { AccountRemoval } from "../../actors/access/member/AccountRemoval.ts"
import { InvitationAcceptance } from "../../actors/access/member/InvitationAcceptance.ts"
import { Invitations } from "../../actors/access/member/Invitations.ts"
import { InvitedSignUp } from "../../actors/access/member/InvitedSignUp.ts"
import { AutomationMembers } from "../../actors/access/member/AutomationMembers.ts"
import { AutomationTokens } from "../../actors/access/member/AutomationTokens.ts"
import { Members } from "../../actors/access/member/Members.ts"
import { UpstreamArrivals } from "../../actors/access/member/UpstreamArrivals.ts"
import { Memberships } from "../../actors/ledger/workspace/Memberships.ts"
import { Projects } from "../../actors/ledger/workspace/Projects.ts"
import { Workspaces } from "../../actors/ledger/workspace/Workspaces.ts"

const signIns = Layer.mergeAll(
  ActionConfirmations.layer,
  AddressChanges.layer,
  Confirmations.layer,
  SetupLinks.layer,
  UpstreamSignIns.layer
).pipe(Layer.provideMerge(Layer.mergeAll(PasswordSignIn.layer, Passkeys.layer, UpstreamIdentities.layer)))

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

/** Services behind the account and Workspace routes: people, their credentials, and the Workspaces they share. */
export const accountServices = AutomationTokens.layer.pipe(
  Layer.provideMerge(authority),
  Layer.provideMerge(people),
  Layer.provideMerge(Mails.layer)
)
