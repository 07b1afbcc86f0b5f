import type { Mutant } from "./Mutant.ts"

const invitations = "test/actors/access/member/Invitations.test.ts"
const signUp = "test/actors/access/member/InvitedSignUp.test.ts"
const members = "test/actors/access/member/Members.test.ts"
const acceptance = "actors/access/member/InvitationAcceptance.ts"

/** Mutants of invitations: the authority to invite, and the ways to join a Workspace. */
export const invitationMutants: ReadonlyArray<Mutant> = [
  ...[
    ["of a person", "most: mostSentInAnHour.sender"],
    ["of a Workspace", "most: mostSentInAnHour.workspace"],
    ["of the server", "most: mostSentInAnHour.server"]
  ].map(([whose = "", text = ""]) => ({
    name: `the mails ${whose} are limited`,
    file: "actors/base/mail/MailLimits.ts",
    text,
    broken: `${text} * 2`,
    test: "test/actors/base/mail/MailLimits.test.ts"
  })),
  {
    name: "the sender of an invitation is admitted",
    file: "actors/access/member/Invitations.ts",
    text: "if (email !== null && sender !== undefined) yield* mails.admit(sender)",
    broken: "if (email === id && sender !== undefined) yield* mails.admit(sender)",
    test: "test/actors/base/mail/MailLimits.test.ts"
  },
  {
    name: "a mailed name contains no link",
    file: "actors/base/mail/MailTexts.ts",
    text: 'short.replace(dots, "[.]")',
    broken: 'short.replace(dots, "$&")',
    test: "test/actors/base/mail/QuotedNames.test.ts"
  },
  {
    name: "an address has no invisible characters",
    file: "schema/records/EmailAddress.ts",
    text: "ignorable.test(local) ||",
    broken: "ignorable.test(domain) ||",
    test: "test/schema/records/EmailAddress.test.ts"
  },
  {
    name: "an address counts only once it was verified",
    file: "actors/access/account/UserRow.ts",
    text: "AND (email_proof IS NOT NULL OR EXISTS",
    broken: "AND (email_proof IS NULL OR EXISTS",
    test: invitations
  },
  {
    name: "the inviter's right is read again",
    file: acceptance,
    text: "if (refusal !== undefined) return yield* lapsedInvitation()",
    broken: "if (refusal === null) return yield* lapsedInvitation()",
    test: invitations
  },
  {
    name: "a link from before a removal",
    file: acceptance,
    text: "former.updated_at > row.created_at",
    broken: "former.updated_at < row.created_at",
    test: invitations
  },
  {
    name: "sign-up by a link with an unverified address",
    file: acceptance,
    text: "if (isOpen(row) || row.proof !== null) return row",
    broken: "if (row.id !== undefined) return row",
    test: signUp
  },
  {
    name: "an open link of anybody but an owner offers member at most",
    file: "actors/access/member/InvitationRights.ts",
    text: `return open && roleAtLeast(role, "admin") && held !== "owner"`,
    broken: `return open && role === "owner" && held !== "owner"`,
    test: invitations
  },
  {
    name: "an open link makes nobody more than a member at once",
    file: "actors/access/member/InvitationRights.ts",
    text: `open && roleAtLeast(role, "admin") ? { role: "member"`,
    broken: `open && role === "owner" ? { role: "member"`,
    test: invitations
  },
  {
    name: "only an owner dismisses an offered role",
    file: "actors/access/member/Members.ts",
    text: `if (dismisses && (yield* managingRole(scope)) !== "owner")`,
    broken: `if (dismisses && (yield* managingRole(scope)) === undefined)`,
    test: invitations
  },
  {
    name: "inviting the same person again ends the earlier link",
    file: "actors/access/member/Invitations.ts",
    text: "yield* endEarlier(row)",
    broken: "yield* Effect.void",
    test: invitations
  },
  {
    name: "a claimed address links no upstream identity",
    file: "actors/access/account/UpstreamIdentities.ts",
    text: ` && emailProof !== null)`,
    broken: ")",
    test: "test/src/accounts/UpstreamRoutes.test.ts"
  },
  {
    name: "who left comes back only by an invitation",
    file: "actors/access/member/Members.ts",
    text: `present.leftAt !== null && status === "active"`,
    broken: `present.leftAt !== present.leftAt && status === "active"`,
    test: members
  },
  {
    name: "only an owner hands over",
    file: "actors/access/member/Members.ts",
    text: `if ((yield* heldBy(scope)) !== "owner")`,
    broken: "if ((yield* heldBy(scope)) === undefined)",
    test: members
  }
]
