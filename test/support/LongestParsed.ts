import { Effect } from "effect"

/** Measures the longest text that this thread parses as JSON while the effect runs. */
export const longestParsedHere = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { parse } = JSON
      const found = { longest: 0, parse }
      JSON.parse = (text, reviver) => {
        found.longest = Math.max(found.longest, text.length)
        return parse(text, reviver)
      }
      return found
    }),
    (found) => Effect.map(effect, (value) => ({ value, longest: found.longest })),
    ({ parse }) =>
      Effect.sync(() => {
        JSON.parse = parse
      })
  )
