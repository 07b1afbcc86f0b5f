import type { Mutant } from "./Mutant.ts"

const file = "actors/access/account/ActionConfirmations.ts"
const test = "test/src/http/ActionConfirmations.test.ts"

/** Mutants of the checks on a confirmation: its person, its action, its lifetime, and that it is used only once. */
export const confirmationMutants: ReadonlyArray<Mutant> = [
  {
    name: "confirmation: of the token that asked",
    file,
    text: "WHERE secret_hash = ${secretHash(code)} AND holder = ${holderOf(principal)}",
    broken: "WHERE secret_hash = ${secretHash(code)} AND holder <> ${principal.subject}",
    test
  },
  {
    name: "confirmation: of one record",
    file,
    text: "AND action = ${action} AND target_id = ${targetId}",
    broken: "AND action = ${action} AND target_id > ${targetId.slice(0, 3)}",
    test
  },
  {
    name: "confirmation: ends for its use",
    file,
    text: "AND status IN ('approved', 'used') AND expires_at > ${yield* now}",
    broken: "AND status IN ('approved', 'used') AND created_at < ${yield* now}",
    test
  },
  {
    name: "confirmation: needs an approval",
    file,
    text: "AND status IN ('approved', 'used')",
    broken: "AND status IN ('pending', 'approved', 'used')",
    test
  },
  {
    name: "confirmation of an action: once",
    file,
    text: 'if (row === undefined || (row.status === "used" && row.used_by !== requestId)) return yield* unconfirmed',
    broken: "if (row === undefined) return yield* unconfirmed",
    test
  },
  {
    name: "confirmation: of its own person",
    file,
    text: "WHERE user_code_digest = ${yield* digestOf(userCode)} AND subject = ${subject} AND status = 'pending'",
    broken:
      "WHERE user_code_digest = ${yield* digestOf(userCode)} AND subject > ${subject.slice(0, 3)} AND status = 'pending'",
    test
  },
  {
    name: "confirmation: waits for its time",
    file,
    text: "              AND expires_at > ${yield* now}`\n        )\n        return row === undefined ? yield* waitingNowhere()",
    broken:
      "              AND created_at < ${yield* now}`\n        )\n        return row === undefined ? yield* waitingNowhere()",
    test
  },
  {
    name: "confirmation: a present person approves",
    file: "src/accounts/ConfirmationRoutes.ts",
    text: '  if (decision === "approve") yield* requireConfirmed(principal)\n',
    broken: "",
    test
  },
  {
    name: "confirmation: used in the transaction of the action",
    file: "src/http/authorization/Admission.ts",
    text: "        isRepeated\n          ? confirmations.use",
    broken: "        isRepeated && code === undefined\n          ? confirmations.use",
    test
  },
  {
    name: "confirmation: tokens need one",
    file: "src/http/authorization/Admission.ts",
    text: "if (action === undefined || !isToken(principal)) return requireConfirmed(principal)",
    broken: "if (action !== undefined && isToken(principal) && request.method === 'POST') return Effect.void",
    test
  }
]
