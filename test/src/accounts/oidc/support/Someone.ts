import { Effect } from "effect"
import { signedInPerson } from "./IssuerFixture.ts"

let people = 0
/** Creates another person, with an open session. */
export const someone = Effect.suspend(() => signedInPerson(`person-${people++}`))
