import type { SigningAlgorithm } from "./Client.ts"

/** The issuer's signing algorithms, with one key each. */
export const signingAlgorithms = ["RS256", "ES256"] as const satisfies ReadonlyArray<SigningAlgorithm>
