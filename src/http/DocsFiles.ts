import { readdir, readFile } from "node:fs/promises"
import { join, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { Context, Effect } from "effect"
import type { Asset } from "../dashboard/Assets.ts"
import { type DocsFile, sha256Of, unpackDocs } from "./DocsArchive.ts"

/** The path at which a server serves the documentation. */
export const docsPath = "/docs/"

/** Where a server finds the built documentation: in the archive of a binary, or in the folder of a checkout. */
export type DocsPlace =
  | { readonly kind: "archive"; readonly file: string }
  | { readonly kind: "folder"; readonly folder: string }

/** A package of the library has no documentation. A binary replaces the place by the archive that it contains. */
export const BuiltDocs = Context.Reference<DocsPlace | undefined>("svc/src/http/BuiltDocs", {
  defaultValue: () =>
    import.meta.url.endsWith(".ts")
      ? { kind: "folder", folder: fileURLToPath(new URL("../../dist/docs", import.meta.url)) }
      : undefined
})

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
  png: "image/png",
  webp: "image/webp",
  woff2: "font/woff2"
}

const plainText = "text/plain; charset=utf-8"
const extensionOf = (path: string): string => /\.([a-z0-9]+)$/.exec(path)?.[1] ?? ""
const isCompressed = (path: string): boolean => /\.(?:png|webp|woff2)$/.test(path)

const compress = promisify(gzip)

/** Only these names contain a hash of the contents. */
const hashed = /^assets\//

const assetOf = Effect.fn("DocsFiles.assetOf")(function* ({ bytes, path, sha256 }: DocsFile) {
  const asset: Asset = {
    path,
    sha256,
    // Files that pages link to, such as units and settings of proxies, are shown as text.
    contentType: contentTypes[extensionOf(path)] ?? plainText,
    immutable: hashed.test(path),
    identity: bytes
  }
  if (isCompressed(path)) return asset
  const compressed: Asset = { ...asset, gzip: new Uint8Array(yield* Effect.promise(() => compress(bytes))) }
  return compressed
})

/** Finds a file by its exact path below the documentation's folder. */
export type FindDocs = (path: string) => Effect.Effect<Asset | undefined>

/** The archive is unpacked when a page is first requested, and each file is compressed when it is first requested. */
const inArchive = Effect.fnUntraced(function* (file: string) {
  const unpacked = yield* Effect.cached(
    Effect.gen(function* () {
      const files = yield* unpackDocs(yield* Effect.promise(() => readFile(file)))
      const assets = yield* Effect.forEach(files, (one) =>
        Effect.map(Effect.cached(assetOf(one)), (asset) => [one.path, asset] as const)
      )
      return new Map(assets)
    })
  )
  const find: FindDocs = (path) =>
    Effect.flatMap(unpacked, (assets) => assets.get(path) ?? Effect.succeed<Asset | undefined>(undefined))
  return find
})

/** The folder is read for each request, so that a server need not be restarted after `npm run docs`. */
const inFolder =
  (folder: string): FindDocs =>
  (path) =>
    Effect.gen(function* () {
      const entries = yield* Effect.tryPromise(() => readdir(folder, { recursive: true, withFileTypes: true })).pipe(
        // The pages have not been built.
        Effect.orElseSucceed(() => [])
      )
      const found = entries.find(
        (entry) =>
          entry.isFile() && join(entry.parentPath, entry.name) === `${folder}${sep}${path.split("/").join(sep)}`
      )
      if (found === undefined) return undefined
      const bytes = new Uint8Array(yield* Effect.promise(() => readFile(join(folder, path))))
      return yield* assetOf({ path, bytes, sha256: sha256Of(bytes) })
    })

/** Returns the finder for this place. Without a place it finds nothing. */
export const findDocs = (place: DocsPlace | undefined): Effect.Effect<FindDocs> =>
  place?.kind === "archive"
    ? inArchive(place.file)
    : Effect.succeed(place === undefined ? () => Effect.succeed(undefined) : inFolder(place.folder))
