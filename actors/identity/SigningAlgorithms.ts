import type { SigningAlgorithm } from "./Client.ts"

/** What the issuer signs with, a key of each. */
export const signingAlgorithms = ["RS256", "ES256"] as const satisfies ReadonlyArray<SigningAlgorithm>
