import { Effect, Redacted } from "effect"
import { CommandFailed, misuse } from "./Output.ts"

const visible = /^[\x21-\x7e]*$/

/** Returns an entered token without the whitespace that an editor or a shell added around it. */
export const tokenInput = (place: string, given: string): Effect.Effect<Redacted.Redacted, CommandFailed> => {
  const token = given.trim()
  const refused = (why: string) => new CommandFailed({ ...misuse, message: `${place} contains no token: ${why}` })
  if (token === "") return refused("it is empty.")
  // Refuse a token that cannot be sent in a header. Otherwise the failed request would look like an unreachable server.
  if (!visible.test(token)) {
    return refused("there is a space, a line break or another character that no token has in it. Give the token alone.")
  }
  return Effect.succeed(Redacted.make(token))
}
