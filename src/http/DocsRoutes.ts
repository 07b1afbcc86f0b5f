import { Effect, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { html, page } from "../accounts/oidc/Page.ts"
import { responseOf } from "../dashboard/Assets.ts"
import { BuiltDocs, docsPath, type FindDocs, findDocs } from "./DocsFiles.ts"

const pathOf = (url: string): string => url.replace(/[?#].*$/s, "")

/** Returns the path below the documentation's folder, decoded; `undefined` if it is not valid. */
const requestedPath = (url: string): string | undefined =>
  Result.getOrUndefined(Result.try(() => decodeURIComponent(pathOf(url).slice(docsPath.length))))

/** The files that can answer a path: a folder has an index, and a page is also found without its extension. */
const candidates = (path: string): ReadonlyArray<string> =>
  path === "" || path.endsWith("/") ? [`${path}index.html`] : [path, `${path}.html`]

const found = Effect.fnUntraced(function* (find: FindDocs, path: string) {
  for (const name of candidates(path)) {
    const asset = yield* find(name)
    if (asset !== undefined) return asset
  }
  return undefined
})

/** Explains how to get the documentation. Shown by servers that have no built copy of it. */
const absent = page({
  language: "en",
  title: "The documentation is not built",
  status: 404,
  body: html`<h1>The documentation is not built</h1>
<p>A release of svc contains these pages. A server that runs from a checkout serves them after <code>npm run docs</code>.</p>
<p>The same pages are in the folder <code>docs/</code> of the repository.</p>
<p><a href="/">Back to svc</a></p>`
})

/** Serves the documentation of this release to everyone, with the security policy of the dashboard. */
export const docsRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const find = yield* findDocs(yield* BuiltDocs)
    const serve = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (pathOf(request.url) === "/docs") return HttpServerResponse.redirect(docsPath, { status: 308 })
      const path = requestedPath(request.url)
      const asset = path === undefined ? undefined : yield* found(find, path)
      const shown = asset ?? (yield* find("404.html"))
      if (shown === undefined) return absent
      const { body, headers, status } = responseOf(shown, {
        acceptEncoding: request.headers["accept-encoding"],
        ifNoneMatch: asset === undefined ? undefined : request.headers["if-none-match"]
      })
      return HttpServerResponse.uint8Array(body, {
        status: asset === undefined ? 404 : status,
        headers,
        ...(headers["content-type"] === undefined ? {} : { contentType: headers["content-type"] })
      })
    })
    // The route also matches the path without the slash.
    yield* router.add("GET", "/docs/*", serve)
  })
)
