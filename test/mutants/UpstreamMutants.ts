import type { Mutant } from "./Mutant.ts"

const decision = "actors/access/member/ProvisioningDecision.ts"
const cases = "test/actors/access/member/ProvisioningDecision.test.ts"
const invitations = "test/src/accounts/UpstreamInvitations.test.ts"
const routes = "test/src/accounts/UpstreamRoutes.test.ts"
const mails = "test/actors/base/mail/Mails.test.ts"
const smtp = "test/src/mail/SmtpTransport.test.ts"
const provisioning = "test/src/accounts/UpstreamProvisioning.test.ts"
const upstreamAttacks = "test/e2e/UpstreamAttacks.test.ts"

/** Mutants of memberships for people who join through the upstream provider or by email. */
export const upstreamMutants: ReadonlyArray<Mutant> = [
  {
    name: "upstream: the last owner stays without the group",
    file: decision,
    text: `if (lastOwner) return { kind: "keep_last_owner", workspaceId }`,
    broken: "",
    test: cases
  },
  {
    name: "upstream: a missing claim keeps no mapped role",
    file: decision,
    text: `return wanted === undefined ? { kind: "end", workspaceId } :`,
    broken: `return wanted === undefined ? undefined :`,
    test: cases
  },
  {
    name: "upstream: a domain needs a verified address",
    file: "src/accounts/upstream/UpstreamClaims.ts",
    text: "email_verified: Schema.Literal(true)",
    broken: "email_verified: Schema.optionalKey(Schema.Unknown)",
    test: provisioning
  },
  {
    name: "upstream: everybody needs a single tenant",
    file: decision,
    text: `if (everybody === true && trust !== "single_tenant") return false`,
    broken: "",
    test: cases
  },
  {
    name: "upstream: every condition of a rule must hold",
    file: decision,
    text: "return named === undefined || named.some((group) => groups.includes(group))",
    broken: "return emailDomains !== undefined || named === undefined || named.some((group) => groups.includes(group))",
    test: cases
  },
  {
    name: "upstream: who left is not brought back",
    file: decision,
    text: "mapped === null && !left",
    broken: "mapped === null",
    test: cases
  },
  {
    name: "upstream: what people gave is not the rules'",
    file: decision,
    text: "if (mapped === undefined) return undefined",
    broken: "",
    test: cases
  },
  {
    name: "upstream: a role changed by hand is not the rules'",
    file: decision,
    text: `if (mapped !== role) return { kind: "release", workspaceId }`,
    broken: "",
    test: cases
  },
  {
    name: "upstream: a single tenant's addresses recognise nobody",
    file: "src/accounts/upstream/UpstreamClaims.ts",
    text: `trust === "single_tenant" ? undefined : decode(Verified, claims)?.email`,
    broken: "decode(Verified, claims)?.email",
    test: provisioning
  },
  {
    name: "upstream: unread groups take no role away",
    file: "src/accounts/upstream/UpstreamProvider.ts",
    text: "lacksGroups\n        ?",
    broken: "lacksGroups && lacksAddress\n        ?",
    test: provisioning
  },
  {
    name: "upstream: an invitation for an address needs the provider's word",
    file: "actors/access/member/InvitationAcceptance.ts",
    text: "row.email !== null && row.email === verifiedEmail",
    broken: "row.email !== null",
    test: invitations
  },
  {
    name: "upstream: signatures of upstream ID tokens are verified",
    file: "src/accounts/upstream/UpstreamProvider.ts",
    text: "yield* verifySignature(tokens.id_token).pipe(",
    broken:
      "yield* Effect.asVoid(Effect.fail({ cause: tokens.id_token })).pipe(Effect.ignore, Effect.flatMap(() => Effect.fail({ cause: undefined })), Effect.orElseSucceed(() => undefined),",
    test: routes
  },
  {
    name: "upstream: rotated keys are fetched once more",
    file: "src/accounts/upstream/UpstreamKeys.ts",
    text: "({ cause }) => mayHaveRotated(cause)",
    broken: "() => false",
    test: routes
  },
  {
    name: "upstream: keys are not fetched in a loop",
    file: "src/accounts/upstream/UpstreamKeys.ts",
    text: "cooldownDuration: Number.POSITIVE_INFINITY",
    broken: "cooldownDuration: 0",
    test: routes
  },
  {
    name: "upstream: the first account is the operator's",
    file: "actors/access/member/UpstreamArrivals.ts",
    text: `if (!(yield* users.exist)) return yield* refusedFor("not_set_up")`,
    broken: "",
    test: provisioning
  },
  {
    name: "upstream: a link outlives the session that asked for it",
    file: "actors/access/member/UpstreamArrivals.ts",
    text: "if (link !== undefined) yield* sessions.requireOpen(link.subject, link.sessionId)",
    broken: "",
    test: upstreamAttacks
  },
  {
    name: "upstream: a token for another party",
    file: "src/accounts/upstream/UpstreamClaims.ts",
    text: "azp !== undefined && azp !== clientId",
    broken: "false",
    test: upstreamAttacks
  },
  {
    name: "upstream: one empty subject for everybody",
    file: "src/accounts/upstream/UpstreamClaims.ts",
    text: `sub === "" || sub.length > longestSubject`,
    broken: "false",
    test: upstreamAttacks
  },
  {
    name: "upstream: an endless answer",
    file: "src/accounts/upstream/ProviderFetch.ts",
    text: "received > maxAnswerBytes",
    broken: "false",
    test: upstreamAttacks
  },
  {
    name: "mail: the inviter's link proves no address",
    file: "actors/access/member/InvitationRow.ts",
    text: "row.mailed_hash === hash ?",
    broken: "row.mailed_hash !== null ?",
    test: mails
  },
  {
    name: "mail: TLS is required",
    file: "src/mail/SmtpTransport.ts",
    text: "requireTLS: !secure && !inClear",
    broken: "requireTLS: false",
    test: smtp
  },
  {
    name: "mail: the mail server's certificate is verified",
    file: "src/mail/SmtpTransport.ts",
    text: "rejectUnauthorized: true",
    broken: "rejectUnauthorized: false",
    test: smtp
  },
  {
    name: "mail: a mail is sent once",
    file: "actors/base/mail/MailDelivery.ts",
    text: `yield* end(id, "sent")`,
    broken: "",
    test: mails
  },
  {
    name: "mail: nobody is flooded",
    file: "actors/base/mail/Mails.ts",
    text: "(recent?.mails ?? 0) >= mostOf(kind)",
    broken: "false",
    test: mails
  },
  {
    name: "upstream: a provider that never finishes is not a false answer",
    file: "src/accounts/upstream/UpstreamProvider.ts",
    text: `cause.code === "OAUTH_TIMEOUT"`,
    broken: `cause.code === ""`,
    test: "test/src/accounts/upstream/SlowProvider.test.ts"
  }
]
