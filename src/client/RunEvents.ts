import { Option, Schema } from "effect"
import { RunFact } from "../../schema/events/RunEvent.ts"
import type { WireEvent } from "./RunFollower.ts"

interface InSequence {
  /** Position in the sequence, starting at 1 and without gaps within a Run. A stream can be resumed after this position. */
  readonly seq: number
  readonly at: string
}

/** An event from an earlier or later release whose kind or data is unknown to this release. */
export interface OtherRunEvent extends InSequence {
  readonly kind: "other"
  readonly data: { readonly kind: string; readonly data: Readonly<Record<string, Schema.Json>> }
}

/** An event of a Run. Its data depends on `kind`. */
export type RunEvent = (InSequence & RunFact) | OtherRunEvent

const decodeFact = Schema.decodeUnknownOption(RunFact)

/** Converts an event from its transmitted form to a member of the union. */
export const runEventOf = ({ at, data, kind, seq }: WireEvent): RunEvent =>
  Option.match(decodeFact({ kind, data }), {
    onNone: (): RunEvent => ({ seq, at, kind: "other", data: { kind, data } }),
    onSome: (fact) => ({ seq, at, ...fact })
  })
