import { readFile } from "node:fs/promises"
import { Context, Effect } from "effect"
import type { Asset, AssetSet } from "./Assets.ts"

/** A dashboard file in a compiled binary or a package, with its description and the path of each encoding. */
export interface EmbeddedFile extends Omit<Asset, "identity" | "br" | "gzip"> {
  readonly identity: string
  readonly br?: string
  readonly gzip?: string
}

/** The files that `scripts/build.ts` has embedded in this binary. The list is empty in a source checkout. */
export const EmbeddedDashboard = Context.Reference<ReadonlyArray<EmbeddedFile>>("svc/src/dashboard/EmbeddedDashboard", {
  defaultValue: () => []
})

const bytes = (location: string) =>
  Effect.map(
    Effect.promise(() => readFile(location)),
    (buffer) => new Uint8Array(buffer)
  )

/**
 * Reads the files into memory. Dies if a file is missing, because this means that the binary or the installation is broken.
 */
export const readEmbeddedDashboard = Effect.fn("EmbeddedFiles.read")(function* (files: ReadonlyArray<EmbeddedFile>) {
  const assets = yield* Effect.forEach(
    files,
    (file) =>
      Effect.map(
        Effect.all(
          {
            identity: bytes(file.identity),
            ...(file.br === undefined ? {} : { br: bytes(file.br) }),
            ...(file.gzip === undefined ? {} : { gzip: bytes(file.gzip) })
          },
          { concurrency: 3 }
        ),
        (contents): Asset => ({
          path: file.path,
          contentType: file.contentType,
          sha256: file.sha256,
          immutable: file.immutable,
          ...contents
        })
      ),
    { concurrency: 4 }
  )
  const set: AssetSet = new Map(assets.map((asset) => [asset.path, asset]))
  return set
})
