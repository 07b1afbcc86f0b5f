import { Effect } from "effect"
import { signedInPerson } from "./IssuerFixture.ts"

let people = 0
/** A person without an account. */
export const someone = Effect.suspend(() => signedInPerson(`person-${people++}`))
