import { Flag } from "effect/cli"

/** A flag that may be absent, or be given several times. */
export const anyNumber = <A>(flag: Flag.Flag<A>): Flag.Flag<ReadonlyArray<A>> =>
  Flag.withDefault(Flag.atLeast(flag, 0), [])
