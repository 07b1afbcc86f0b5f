import { Effect, Option } from "effect"
import { parseState } from "./StateFile.ts"
import { type ScannedState, scanState } from "./StateScan.ts"

/** A larger one is not parsed, which takes several times its size of memory. */
export const longestParsed = 16 * 1024 * 1024

/** What a state file is by its own words, however large it is; `none` when the bytes are not a complete one. */
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
