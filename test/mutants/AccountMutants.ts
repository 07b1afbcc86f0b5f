import type { Mutant } from "./Mutant.ts"

const factors = "test/src/accounts/FactorRoutes.test.ts"
const signIn = "test/actors/access/account/SignIn.test.ts"
const mailedLinks = "test/actors/base/mail/MailedLinks.test.ts"
const linksFile = "actors/access/account/SetupLinks.ts"
const profile = "test/src/accounts/ProfileRoutes.test.ts"
const confirmations = "test/src/accounts/ConfirmationRoutes.test.ts"

/** Mutants of the checks made when people change their accounts or confirm their identity. */
export const accountMutants: ReadonlyArray<Mutant> = [
  {
    name: "sign-in: the password that was compared still stands",
    file: "actors/access/account/PasswordSignIn.ts",
    text: "if (held.length === 0) return yield* refused()",
    broken: "",
    test: "test/actors/access/account/PasswordRaces.test.ts"
  },
  {
    name: "sign-in: no second factor was turned on meanwhile",
    file: "actors/access/account/PasswordSignIn.ts",
    text: "if (!isFactorProven) yield* factors.require(subject, undefined)",
    broken: "",
    test: "test/actors/access/account/PasswordRaces.test.ts"
  },
  {
    name: "a confirmation lasts five minutes",
    file: "actors/base/credential/Principal.ts",
    text: "confirmedAt !== undefined && millis - confirmedAt < lifetime",
    broken: "confirmedAt !== undefined && millis > 0",
    test: confirmations
  },
  {
    name: "a passkey confirms for its own person",
    file: "actors/access/account/Passkeys.ts",
    text: " || (asked !== null && stored.subject !== asked.subject)",
    broken: "",
    test: confirmations
  },
  {
    name: "a passkey confirms the session that asked",
    file: "actors/access/account/PasskeyChallenges.ts",
    text: "WHERE challenge = ${challenge} AND purpose = ${purpose} AND COALESCE",
    broken: `WHERE challenge = \${challenge} AND substr(purpose, 1, 4) = \${purpose.slice(0, 4)} AND COALESCE`,
    test: "test/e2e/PasskeyAttacks.test.ts"
  },
  {
    name: "a passkey with an endless id",
    file: "actors/access/account/NewPasskeys.ts",
    text: "credential.id.length > longestCredentialId",
    broken: "false",
    test: "test/e2e/PasskeyAttacks.test.ts"
  },
  {
    name: "a sensitive route asks for the person",
    file: "src/http/authorization/Admission.ts",
    text: "return Effect.andThen(present, counted)",
    broken: "return isRepeated ? Effect.andThen(present, counted) : counted",
    test: "test/src/http/AuthorizationTable.test.ts"
  },
  {
    name: "a sign-in at the provider confirms nothing",
    file: "actors/access/account/Sessions.ts",
    text: `method !== "upstream"`,
    broken: `method !== "setup"`,
    test: "test/src/accounts/UpstreamRoutes.test.ts"
  },
  {
    name: "the provider says that the person has just signed in there",
    file: "src/accounts/upstream/UpstreamProvider.ts",
    text: "...(fresh ? { maxAge: freshSeconds } : {})",
    broken: "",
    test: "test/src/accounts/UpstreamRoutes.test.ts"
  },
  {
    name: "a link to another address is for its own account",
    file: "actors/access/account/AddressChanges.ts",
    text: "AND subject = ${subject} AND used_at IS NULL AND expires_at > ${yield* now}",
    broken: "AND subject <> ${subject + subject} AND used_at IS NULL AND expires_at > ${yield* now}",
    test: profile
  },
  {
    name: "setup link: a used one names no account",
    file: linksFile,
    text: "row.used_at !== null || (row.subject",
    broken: "(row.subject",
    test: signIn
  },
  {
    name: "setup link: an expired one names no account",
    file: linksFile,
    text: `if (row.expires_at <= (yield* now)) return { state: "expired", purpose } as const`,
    broken: "",
    test: signIn
  },
  {
    name: "reset link: only the mailed one proves the address",
    file: linksFile,
    text: `if (purpose === "mailed_reset") {`,
    broken: `if (purpose !== "first_admin") {`,
    test: mailedLinks
  },
  {
    name: "reset link: the mailed one and the operator's end together",
    file: linksFile,
    text: "yield* sql`UPDATE setup_links SET used_at = ${yield* now} WHERE subject = ${subject} AND used_at IS NULL`",
    broken: "",
    test: mailedLinks
  },
  {
    name: "a link to another address is shown to its own account",
    file: "actors/access/account/AddressChanges.ts",
    text: "WHERE secret_hash = ${secretHash(secret)} AND subject = ${subject}`",
    broken: "WHERE secret_hash = ${secretHash(secret)}`",
    test: profile
  },
  {
    name: "a link to another address is mailed after a confirmation",
    file: "src/accounts/ProfileRoutes.ts",
    text: "const { subject } = yield* signedInAndConfirmed",
    broken: "const { subject } = yield* signedInToChange",
    test: "test/src/accounts/ConfirmationRoutes.test.ts"
  },
  {
    name: "a link to another address is mailed a few times a minute",
    file: "src/accounts/ProfileRoutes.ts",
    text: `yield* limits.consume("address_link", { subject })`,
    broken: "",
    test: profile
  },
  {
    name: "the notice of another address goes to the previous one, if that was verified",
    file: "actors/access/account/AccountNotices.ts",
    text: "const address = yield* Effect.provideService(verifiedAddress(subject), SqlClient.SqlClient, sql)",
    broken:
      "const address = (yield* sql<{ email: string }>`SELECT email FROM users WHERE subject = ${subject}`)[0]?.email",
    test: mailedLinks
  },
  {
    name: "a link to another address: expiry",
    file: "actors/access/account/AddressChanges.ts",
    text: " AND expires_at > ${yield* now}",
    broken: "",
    test: profile
  },
  {
    name: "a notice stays until its owner has seen it",
    file: "actors/access/account/AccountNotices.ts",
    text: "AND created_at <= (SELECT",
    broken: "AND created_at <> (SELECT",
    test: profile
  },
  {
    name: "the last owner is not deleted",
    file: "actors/access/member/AccountRemoval.ts",
    text: "if (alone.length > 0) {",
    broken: "if (alone.length < 0) {",
    test: "test/actors/access/member/AccountRemoval.test.ts"
  },
  {
    name: "second factor: asked for",
    file: "actors/access/account/PasswordSignIn.ts",
    text: "yield* factors.require(subject, request.code)",
    broken: "yield* Effect.succeed(true)",
    test: factors
  },
  {
    name: "lock: ends the links of the account",
    file: "actors/access/account/Users.ts",
    text: "yield* sql`DELETE FROM setup_links WHERE subject = ${subject} AND used_at IS NULL`\n            yield* sql`DELETE FROM address_changes",
    broken: "yield* sql`DELETE FROM address_changes",
    test: signIn
  },
  {
    name: "second factor: turned on during a sign-in",
    file: "actors/access/account/PasswordSignIn.ts",
    text: "requireUnchanged(subject, hash, isFactorProven)",
    broken: "requireUnchanged(subject, hash, request.code !== undefined)",
    test: "test/actors/access/account/PasswordRaces.test.ts"
  },
  {
    name: "second factor: a code serves once",
    file: "actors/access/account/SecondFactors.ts",
    text: "last_step: step, failures: 0",
    broken: "failures: 0",
    test: factors
  },
  {
    name: "second factor: guessing ends",
    file: "actors/access/account/SecondFactors.ts",
    text: "if (wait > 0) return wait",
    broken: "",
    test: factors
  },
  {
    name: "recovery code: single use",
    file: "actors/access/account/SecondFactors.ts",
    text: " AND used_at IS NULL RETURNING id",
    broken: " RETURNING id",
    test: factors
  },
  {
    name: "recovery code: its person",
    file: "actors/access/account/SecondFactors.ts",
    text: "WHERE subject = ${subject} AND code_hash = ${digest(code)}",
    broken: "WHERE subject <> ${subject + subject} AND code_hash = ${digest(code)}",
    test: factors
  },
  {
    name: "sign-in: an unknown person costs a hash, too",
    file: "actors/access/account/Passwords.ts",
    text: "if (normal === undefined || ",
    broken: "if (hash === undefined || normal === undefined || ",
    test: "test/e2e/FactorAttacks.test.ts"
  }
]
