import { Effect } from "effect"
import { generateKeyPair } from "jose"
import { takenInTurn } from "../../../support/TakenInTurn.ts"

/** More than any test uses at a time, so that all of a test's keys differ. */
const keyPairs = 6

/** An RSA key pair, generated once because generation takes longer than most tests that need it. */
export const signingKeyPair = takenInTurn(
  keyPairs,
  Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
)
