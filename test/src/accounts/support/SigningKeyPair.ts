import { Effect } from "effect"
import { generateKeyPair } from "jose"
import { takenInTurn } from "../../../support/TakenInTurn.ts"

/** More keys than any test uses at a time, so that a test never gets the same key twice. */
const keyPairs = 6

/** Returns an RSA key pair from a pool that is generated once, because generating one takes longer than most tests. */
export const signingKeyPair = takenInTurn(
  keyPairs,
  Effect.promise(() => generateKeyPair("RS256", { extractable: true }))
)
