import { dirname, join, basename } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompress, constants, gzip } from "node:zlib"
import { promisify } from "node:util"
import type { BunPlugin } from "bun"
import { Effect, Schema } from "effect"
import { appPages } from "./AppPages.ts"
import { type Asset, type AssetSet, assetPrefix } from "./Assets.ts"
import { signedOutPages, pageHtml } from "./Pages.tsx"

/** A font file, with the address under which a style sheet imports it. */
interface Typeface {
  /** The path as spelled in `styles/Fonts.css`. */
  readonly module: string
  readonly path: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * The font families that are shipped, in the order in which a page needs them. Each has its name in the style sheet and its
 * file.
 */
const typefaces = [
  {
    module: "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2",
    file: import.meta.resolve("@fontsource-variable/geist/files/geist-latin-wght-normal.woff2")
  },
  {
    module: "@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2",
    file: import.meta.resolve("@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2")
  }
] as const

const readTypeface = async ({ file, module }: (typeof typefaces)[number]): Promise<Typeface> => {
  const bytes = new Uint8Array(await Bun.file(fileURLToPath(file)).arrayBuffer())
  return { module, bytes, path: `${assetPrefix}${basename(module, ".woff2")}-${Bun.hash(bytes).toString(36)}.woff2` }
}

const readTypefaces = (): Promise<ReadonlyArray<Typeface>> => Promise.all(typefaces.map(readTypeface))

/**
 * Excludes the fonts from the style sheet. The bundler would otherwise embed the fonts, and the browser draws nothing until
 * it has read the style sheet.
 */
const typefacesApart = (typefaces: ReadonlyArray<Typeface>): BunPlugin => ({
  name: "typefaces",
  setup: (build) => {
    build.onResolve({ filter: /\.woff2$/ }, ({ path }) => {
      const found = typefaces.find(({ module }) => module === path)
      return found === undefined ? undefined : { path: found.path, external: true }
    })
  }
})

/** Error if the dashboard's sources could not be bundled because they are missing or contain an error. */
export class DashboardBuildError extends Schema.TaggedError<DashboardBuildError>()("DashboardBuildError", {
  message: Schema.String
}) {}

/**
 * The entry points of the bundle. The separate scripts cannot import other files, because they either block the first paint
 * or run in a worker.
 */
export const dashboardEntries = {
  pages: ["app/Main.tsx", "signed-out/SignedOut.tsx", "styles/Dashboard.css"],
  scripts: ["signed-out/Boot.ts", "app/Start.ts", "value-difference/DifferenceWorker.ts", "readme/ReadmeWorker.ts"]
} as const

const folder = dirname(fileURLToPath(import.meta.url))

const contentTypes: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
  html: "text/html; charset=utf-8"
}

const contentType = (path: string): string =>
  contentTypes[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream"

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/**
 * Compression level. `best` takes seconds and is used for releases; `fast` is used when the server starts from a source
 * checkout.
 */
export type Effort = "best" | "fast"

/** These formats are already compressed, so skip them. */
const isCompressed = (path: string): boolean => path.endsWith(".woff2")

const asset = Effect.fn("Build.asset")(function* (
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  immutable: boolean,
  effort: Effort
) {
  const quality = effort === "best" ? 11 : 4
  const digest = yield* Effect.promise(() => crypto.subtle.digest("SHA-256", bytes))
  const made: Asset = {
    path,
    contentType: contentType(path),
    sha256: Buffer.from(digest).toString("hex"),
    immutable,
    identity: bytes
  }
  if (isCompressed(path)) return made
  const brotli = yield* Effect.promise(() =>
    compressBrotli(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength }
    })
  )
  const gzipped = yield* Effect.promise(() => compressGzip(bytes, { level: effort === "best" ? 9 : 5 }))
  const compressed: Asset = { ...made, br: new Uint8Array(brotli), gzip: new Uint8Array(gzipped) }
  return compressed
})

const run = Effect.fn("Build.run")(function* (
  entries: ReadonlyArray<string>,
  splitting: boolean,
  plugins: ReadonlyArray<BunPlugin> = []
) {
  const built = yield* Effect.tryPromise({
    try: () =>
      Bun.build({
        entrypoints: entries.map((entry) => join(folder, entry)),
        target: "browser",
        format: "esm",
        minify: true,
        splitting,
        metafile: true,
        plugins: [...plugins],
        publicPath: assetPrefix,
        naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
        define: { "process.env.NODE_ENV": '"production"' }
      }),
    catch: (cause) =>
      new DashboardBuildError({
        message: `The dashboard could not be bundled: ${cause instanceof AggregateError ? cause.errors.map(String).join("; ") : String(cause)}`
      })
  })
  if (!built.success)
    return yield* new DashboardBuildError({
      message: `The dashboard could not be bundled: ${built.logs.map(String).join("; ")}`
    })
  return built
})

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** Returns the files that a page needs before its code can run: the static imports of an entry, followed by the entry. */
const staticClosure = (built: Bun.BuildOutput, entry: string): ReadonlyArray<string> => {
  const outputs = built.metafile?.outputs ?? {}
  const seen = new Set<string>()
  const visit = (path: string): void => {
    if (seen.has(path)) return
    seen.add(path)
    for (const imported of outputs[path]?.imports ?? []) if (imported.kind === "import-statement") visit(imported.path)
  }
  visit(entry)
  return [...seen].map(baseName).toReversed()
}

const entryOf = (built: Bun.BuildOutput, suffix: string): string | undefined =>
  Object.entries(built.metafile?.outputs ?? {}).find(([, output]) => output.entryPoint?.endsWith(suffix))?.[0]

/**
 * Bundles the dashboard into hashed files under `/assets/`, the HTML pages, and compressed copies of them. The result
 * consists of bytes, so that it can be served in the same way whether it comes from memory, from `dist/dashboard` or from a
 * compiled binary.
 */
export const buildDashboard = Effect.fn("Build.buildDashboard")(function* (effort: Effort) {
  const typefaces = yield* Effect.tryPromise({
    try: readTypefaces,
    catch: (cause) => new DashboardBuildError({ message: `A typeface of the dashboard is missing: ${String(cause)}` })
  })
  const [built, booted] = yield* Effect.all([
    run(dashboardEntries.pages, true, [typefacesApart(typefaces)]),
    run(dashboardEntries.scripts, false)
  ])
  const bundled = yield* Effect.forEach(
    [...built.outputs, ...booted.outputs],
    (output) =>
      Effect.promise(() => output.arrayBuffer()).pipe(
        Effect.flatMap((buffer) =>
          asset(`${assetPrefix}${baseName(output.path)}`, new Uint8Array(buffer), true, effort)
        )
      ),
    { concurrency: 4 }
  )
  const drawn = yield* Effect.tryPromise({
    try: () => Bun.file(join(folder, "styles", "Icon.svg")).arrayBuffer(),
    catch: () => new DashboardBuildError({ message: "The dashboard's icon is missing." })
  })
  const icon = `${assetPrefix}Icon-${Bun.hash(drawn).toString(36)}.svg`
  const faces = yield* Effect.forEach(typefaces, ({ bytes, path }) => asset(path, bytes, true, effort))
  const files = [...bundled, ...faces, yield* asset(icon, new Uint8Array(drawn), true, effort)]
  const url = (name: RegExp) => files.find((file) => name.test(file.path))?.path
  const app = entryOf(built, "app/Main.tsx")
  const signedOut = entryOf(built, "signed-out/SignedOut.tsx")
  const style = url(/\/Dashboard-[^/]+\.css$/)
  const boot = url(/\/Boot-[^/]+\.js$/)
  const start = url(/\/Start-[^/]+\.js$/)
  const font = typefaces[0]?.path
  const differenceWorker = url(/\/DifferenceWorker-[^/]+\.js$/)
  const readmeWorker = url(/\/ReadmeWorker-[^/]+\.js$/)
  const incomplete = (what: string) => new DashboardBuildError({ message: `The dashboard's bundle lacks ${what}.` })
  if (
    app === undefined ||
    signedOut === undefined ||
    style === undefined ||
    boot === undefined ||
    start === undefined ||
    font === undefined ||
    differenceWorker === undefined ||
    readmeWorker === undefined
  ) {
    return yield* incomplete(
      "an entry: app, signed-out pages, a blocking script, a worker, the typeface or the style sheet"
    )
  }
  const partsOf = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
    const initial = new Set(staticClosure(built, app))
    const found = yield* Effect.forEach(names, (name) => {
      const entry = entryOf(built, name)
      return entry === undefined ? Effect.fail(incomplete(name)) : Effect.succeed(staticClosure(built, entry))
    })
    return [...new Set(found.flat())].filter((name) => !initial.has(name))
  })
  const addressed = (names: ReadonlyArray<string>) => names.map((name) => `${assetPrefix}${name}`)
  const html = (
    parts: Pick<Parameters<typeof pageHtml>[0], "page" | "language" | "boot">,
    entry: string,
    on: ReadonlyArray<string>
  ) =>
    new TextEncoder().encode(
      pageHtml({
        ...parts,
        style,
        icon,
        font,
        differenceWorker,
        readmeWorker,
        scripts: addressed(staticClosure(built, entry)),
        parts: addressed(on)
      })
    )
  const appHtml = Effect.fnUntraced(function* (path: string, names: ReadonlyArray<string>) {
    const page = html({ page: "app", language: "en", boot: start }, app, yield* partsOf(names))
    return yield* asset(path, page, false, effort)
  })
  const pages = yield* Effect.all([
    appHtml("/app.html", []),
    ...appPages.map(({ name, parts }) => appHtml(`/app.${name}.html`, parts)),
    ...signedOutPages.flatMap((page) =>
      (["en", "ja"] as const).map((language) =>
        asset(`/${page}.${language}.html`, html({ page, language, boot }, signedOut, []), false, effort)
      )
    )
  ])
  const assets: AssetSet = new Map([...files, ...pages].map((made) => [made.path, made]))
  return assets
})
