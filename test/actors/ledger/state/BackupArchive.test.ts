import { expect } from "bun:test"
import { gzipSync } from "node:zlib"
import { Effect, Option } from "effect"
import { archiveContents } from "../../../../actors/ledger/state/BackupArchive.ts"
import { it } from "../../../support/Effect.ts"

it.live("a backup archive is unpacked only up to its size limit", () =>
  Effect.gen(function* () {
    const mebibyte = 1024 * 1024
    const member = gzipSync(Buffer.alloc(mebibyte))
    const archive = (members: number) => Buffer.concat(Array.from({ length: members }, () => member))
    expect(Option.map(yield* archiveContents(archive(4), 4 * mebibyte), ({ length }) => length)).toEqual(
      Option.some(4 * mebibyte)
    )
    expect(yield* archiveContents(archive(5), 4 * mebibyte)).toEqual(Option.none())
    expect(yield* archiveContents(archive(4).subarray(0, -9), 8 * mebibyte)).toEqual(Option.none())
  })
)
