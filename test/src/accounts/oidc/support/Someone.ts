import { Effect } from "effect"
import { signedInPerson } from "./IssuerFixture.ts"

let people = 0
/** A person who has no account yet. */
export const someone = Effect.suspend(() => signedInPerson(`person-${people++}`))
