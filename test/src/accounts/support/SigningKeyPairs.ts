import { Effect } from "effect"
import { generateKeyPair } from "jose"

const generated = Effect.promise(() => generateKeyPair("RS256", { extractable: true }))

/** More than any test uses at a time, so that all of a test's keys differ. */
const keyPairs = Effect.runSync(Effect.forEach(Array.from({ length: 6 }), () => Effect.cached(generated)))

let next = 0

/** An RSA key pair, taken in turn from a small set: generating one takes longer than most tests that need one. */
export const signingKeyPair = Effect.suspend(() => keyPairs[next++ % keyPairs.length] ?? generated)
