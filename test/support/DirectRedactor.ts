import { Effect } from "effect"
import type { Redactor } from "../../runner/redaction/Redactor.ts"
import type { RunRedactor } from "../../runner/redaction/RunRedactor.ts"

/** Creates a redactor that runs on the caller's thread. */
export const directRedactor = (redactor: Redactor): RunRedactor => ({
  add: (secrets) => Effect.sync(() => redactor.add(secrets)),
  items: (items) => Effect.sync(() => items.map((item) => redactor.item(item))),
  open: Effect.sync(() => {
    const stream = redactor.stream()
    return {
      push: (piece: string) => Effect.sync(() => stream.push(piece)),
      end: (rest: string) => Effect.sync(() => stream.end(rest, true))
    }
  }),
  openLines: Effect.sync(() => {
    const stream = redactor.lines()
    return {
      push: (lines: ReadonlyArray<string>) => Effect.sync(() => stream.push(lines)),
      end: Effect.sync(() => stream.end())
    }
  })
})
