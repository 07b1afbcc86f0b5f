import { appPageFile } from "./AppPages.ts"

/** Every file below this path has a hash in its name and may be cached forever. */
export const assetPrefix = "/assets/"

/** A file to serve. `br` and `gzip` are the precompressed contents. */
export interface Asset {
  readonly path: string
  readonly contentType: string
  readonly sha256: string
  /** True if the name contains the hash of the contents. */
  readonly immutable: boolean
  readonly identity: Uint8Array<ArrayBuffer>
  readonly br?: Uint8Array<ArrayBuffer>
  readonly gzip?: Uint8Array<ArrayBuffer>
}

export type AssetSet = ReadonlyMap<string, Asset>

export interface AssetRequest {
  readonly path: string
  readonly acceptEncoding?: string | undefined
  readonly acceptLanguage?: string | undefined
  readonly ifNoneMatch?: string | undefined
}

export interface AssetResponse {
  readonly status: 200 | 304 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array<ArrayBuffer>
}

/** The content security policy of a page. It allows nothing from other origins, and no inline scripts or styles. */
export const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'self'"
].join("; ")

const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-cache",
  vary: "Accept-Encoding, Accept-Language"
}

const signedOutPaths: ReadonlySet<string> = new Set(["/sign-in", "/setup", "/join"])

const appPaths: ReadonlyArray<RegExp> = [
  /^\/$/,
  /^\/(?:new|install|account|confirm)$/,
  /^\/account\/[a-z-]+$/,
  /^\/(?:runs|capsules|sources)\/[A-Za-z0-9_]+$/,
  /^\/w\/[a-z0-9][a-z0-9-]{1,38}(?:\/[A-Za-z0-9_-]+){0,3}$/
]

/** Returns true if the dashboard has a page at this path. */
export const isDashboardPage = (path: string): boolean => {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  return signedOutPaths.has(trimmed) || appPaths.some((pattern) => pattern.test(trimmed))
}

interface Weighted {
  readonly name: string
  readonly weight: number
}

const weightedList = (header: string | undefined): ReadonlyArray<Weighted> =>
  (header ?? "").split(",").flatMap((item) => {
    const [name, ...parameters] = item.split(";").map((part) => part.trim())
    if (name === undefined || name === "") return []
    const weight = parameters
      .map((parameter) => /^q=([0-9.]+)$/.exec(parameter)?.[1])
      .find((found) => found !== undefined)
    return [{ name: name.toLowerCase(), weight: weight === undefined ? 1 : Number(weight) }]
  })

const accepts = (accepted: ReadonlyArray<Weighted>, coding: string): boolean =>
  (accepted.find((item) => item.name === coding) ?? accepted.find((item) => item.name === "*"))?.weight !== undefined &&
  ((accepted.find((item) => item.name === coding) ?? accepted.find((item) => item.name === "*"))?.weight ?? 0) > 0

/** Returns Japanese if the browser prefers Japanese to English or ranks both languages equally. */
const languageOf = (header: string | undefined): "en" | "ja" => {
  const accepted = weightedList(header)
  const best = (prefix: string) =>
    Math.max(
      0,
      ...accepted
        .filter((item) => item.name === prefix || item.name.startsWith(`${prefix}-`))
        .map((item) => item.weight)
    )
  const japanese = best("ja")
  if (japanese === 0) return "en"
  if (japanese > best("en")) return "ja"
  const first = accepted.find((item) => item.name.startsWith("ja") || item.name.startsWith("en"))
  return japanese === best("en") && first?.name.startsWith("ja") === true ? "ja" : "en"
}

const fileFor = (path: string, language: "en" | "ja"): string | undefined => {
  if (path.startsWith(assetPrefix)) return path
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  if (signedOutPaths.has(trimmed)) return `${trimmed}.${language}.html`
  return isDashboardPage(trimmed) ? appPageFile(trimmed) : undefined
}

const matches = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(",").some((candidate) => candidate.trim() === "*" || candidate.trim().replace(/^W\//, "") === etag)

/**
 * Returns the response to a GET request for `path`, or `undefined` if the dashboard has no file there. This function is
 * pure. The HTTP layer adds headers (request id, nosniff), and omits the body if the request is a HEAD request.
 */
export const assetFor = (assets: AssetSet, request: AssetRequest): AssetResponse | undefined => {
  const name = fileFor(request.path, languageOf(request.acceptLanguage))
  const asset = name === undefined ? undefined : assets.get(name)
  return asset === undefined ? undefined : responseOf(asset, request)
}

// Paths that programs use. Unknown paths below them get a JSON response, even in a browser.
const programPaths = /^\/(?:api|assets|auth|hooks|oauth|schemas|\.well-known)(?:\/|$)/

/**
 * Returns the page for a browser that opens an unknown address. The page is the dashboard itself, which shows the error. It
 * is sent with status 404. Returns `undefined` for programs, and for paths that programs use.
 */
export const notFoundPageFor = (
  assets: AssetSet,
  request: Omit<AssetRequest, "ifNoneMatch"> & { readonly accept: string | undefined }
): AssetResponse | undefined => {
  const asset = assets.get(appPageFile(request.path))
  const wantsPage = weightedList(request.accept).some(({ name, weight }) => name === "text/html" && weight > 0)
  if (asset === undefined || !wantsPage || programPaths.test(request.path)) return undefined
  return { ...responseOf(asset, { ...request, ifNoneMatch: undefined }), status: 404 }
}

/** Returns the response with a file: in the best encoding that the client accepts, or 304 if the client has it already. */
export const responseOf = (asset: Asset, request: Omit<AssetRequest, "path">): AssetResponse => {
  const accepted = weightedList(request.acceptEncoding)
  const coding =
    asset.br !== undefined && accepts(accepted, "br")
      ? "br"
      : asset.gzip !== undefined && accepts(accepted, "gzip")
        ? "gzip"
        : undefined
  const etag = `"${asset.sha256.slice(0, 32)}${coding === undefined ? "" : `-${coding}`}"`
  const headers = {
    "content-type": asset.contentType,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    etag,
    ...(asset.immutable
      ? { "cache-control": "public, max-age=31536000, immutable", vary: "Accept-Encoding" }
      : pageHeaders)
  }
  if (matches(request.ifNoneMatch, etag)) return { status: 304, headers, body: new Uint8Array(0) }
  const body = coding === "br" ? asset.br : coding === "gzip" ? asset.gzip : asset.identity
  return {
    status: 200,
    headers: { ...headers, ...(coding === undefined ? {} : { "content-encoding": coding }) },
    body: body ?? asset.identity
  }
}
