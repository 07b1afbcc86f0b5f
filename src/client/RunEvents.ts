import { Option, Schema } from "effect"
import { RunFact } from "../../schema/events/RunEvent.ts"
import type { WireEvent } from "./RunFollower.ts"

interface InSequence {
  /** Starts at 1 and has no gaps within a Run: where to resume. */
  readonly seq: number
  readonly at: string
}

/** An event whose kind or data this release does not know: from an earlier release, or a later one. */
export interface OtherRunEvent extends InSequence {
  readonly kind: "other"
  readonly data: { readonly kind: string; readonly data: Readonly<Record<string, Schema.Json>> }
}

/** What happens to a Run, by `kind`; each has data of its own. */
export type RunEvent = (InSequence & RunFact) | OtherRunEvent

const decodeFact = Schema.decodeUnknownOption(RunFact)

/** The event as one of the union. */
export const runEventOf = ({ at, data, kind, seq }: WireEvent): RunEvent =>
  Option.match(decodeFact({ kind, data }), {
    onNone: (): RunEvent => ({ seq, at, kind: "other", data: { kind, data } }),
    onSome: (fact) => ({ seq, at, ...fact })
  })
