import type { Mutant } from "./Mutant.ts"

const profile = "test/src/accounts/ProfileRoutes.test.ts"
const confirmations = "test/src/accounts/ConfirmationRoutes.test.ts"

/** What a signed-in person may do to their own account, and that it is still them. */
export const accountMutants: ReadonlyArray<Mutant> = [
  {
    name: "a confirmation lasts five minutes",
    file: "actors/credential/RecentConfirmation.ts",
    text: "confirmedAt !== undefined && millis - confirmedAt < lifetime",
    broken: "confirmedAt !== undefined && millis > 0",
    test: confirmations
  },
  {
    name: "a passkey confirms for its own person",
    file: "actors/account/Passkeys.ts",
    text: " || (asked !== null && stored.subject !== asked)",
    broken: "",
    test: confirmations
  },
  {
    name: "a sensitive route asks for the person",
    file: "src/http/authorization/Admission.ts",
    text: "Effect.andThen(requireConfirmed(principal), counted)",
    broken: "counted",
    test: "test/src/http/AuthorizationTable.test.ts"
  },
  {
    name: "a sign-in at the provider confirms nothing",
    file: "actors/account/Sessions.ts",
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
    file: "actors/account/AddressChanges.ts",
    text: "AND subject = ${subject} AND used_at IS NULL AND expires_at > ${yield* now}",
    broken: "AND subject <> ${subject + subject} AND used_at IS NULL AND expires_at > ${yield* now}",
    test: profile
  },
  {
    name: "a link to another address: expiry",
    file: "actors/account/AddressChanges.ts",
    text: " AND expires_at > ${yield* now}",
    broken: "",
    test: profile
  },
  {
    name: "a notice stays until its owner has seen it",
    file: "actors/account/AccountNotices.ts",
    text: "AND created_at <= (SELECT",
    broken: "AND created_at <> (SELECT",
    test: profile
  }
]
