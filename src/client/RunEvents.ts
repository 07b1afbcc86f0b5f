import { Option, Schema } from "effect"
import { RunFact } from "../../schema/events/RunEvent.ts"
import type { WireEvent } from "./RunFollower.ts"

interface InSequence {
  /** Starts at 1 and has no gaps within a Run. Marks where to resume. */
  readonly seq: number
  readonly at: string
}

/** An event from an earlier or later release, whose kind or data this release does not know. */
export interface OtherRunEvent extends InSequence {
  readonly kind: "other"
  readonly data: { readonly kind: string; readonly data: Readonly<Record<string, Schema.Json>> }
}

/** An event of a Run, by `kind`; each kind has its own data. */
export type RunEvent = (InSequence & RunFact) | OtherRunEvent

const decodeFact = Schema.decodeUnknownOption(RunFact)

/** The event as a member of the union. */
export const runEventOf = ({ at, data, kind, seq }: WireEvent): RunEvent =>
  Option.match(decodeFact({ kind, data }), {
    onNone: (): RunEvent => ({ seq, at, kind: "other", data: { kind, data } }),
    onSome: (fact) => ({ seq, at, ...fact })
  })
