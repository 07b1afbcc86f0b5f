import { Effect, Option } from "effect"
import { parseState } from "./StateFile.ts"
import { type ScannedState, scanState } from "./StateScan.ts"

/** A larger state is not parsed: parsing takes several times its size in memory. */
export const longestParsed = 16 * 1024 * 1024

/** The identity stated in a state file of any size; `none` if the bytes are not a complete state. */
export const stateIdentity = (bytes: Uint8Array): Effect.Effect<Option.Option<ScannedState>> =>
  bytes.length > longestParsed
    ? scanState(bytes)
    : Effect.sync(() =>
        Option.map(parseState(bytes), ({ lineage, managed, serial }) => ({
          lineage,
          serial,
          resourceCount: managed?.length
        }))
      )
