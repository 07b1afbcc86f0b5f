import { describe, expect } from "bun:test"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { Effect } from "effect"
import { appPages } from "../../src/dashboard/AppPages.ts"
import { assetFor, contentSecurityPolicy, isDashboardPage, notFoundPageFor } from "../../src/dashboard/Assets.ts"
import { buildDashboard } from "../../src/dashboard/Build.ts"
import { it } from "../support/Effect.ts"

const built = Effect.runPromise(Effect.cached(buildDashboard("fast"))).then((cached) => Effect.runPromise(cached))
const assets = Effect.promise(() => built)
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

describe("Dashboard files", () => {
  it.live("a dashboard page has a strict content security policy and is revalidated each time", () =>
    Effect.gen(function* () {
      const page = assetFor(yield* assets, { path: "/w/acme/runs/run_1" })
      expect(page?.headers["content-security-policy"]).toBe(contentSecurityPolicy)
      expect(page?.headers["cache-control"]).toBe("no-cache")
      expect(page?.headers["x-content-type-options"]).toBe("nosniff")
      expect(contentSecurityPolicy).not.toContain("unsafe")
    })
  )

  it.live("an unknown address returns status 404 and the dashboard, which reports the error", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const accept = "text/html,application/xhtml+xml,*/*;q=0.8"
      const page = assetFor(set, { path: "/w/acme/activity" })
      for (const path of ["/nonsense", "/w/acme/a/b/c/d", "/w/NOT", "/capsules", "/runs/run_1/more"]) {
        expect(assetFor(set, { path })).toBeUndefined()
        const found = notFoundPageFor(set, { path, accept })
        expect(found?.status).toBe(404)
        expect(found?.headers["content-security-policy"]).toBe(contentSecurityPolicy)
        expect(text(found?.body).length).toBeGreaterThan(0)
      }
      expect(text(notFoundPageFor(set, { path: "/nonsense", accept })?.body)).toBe(text(page?.body))
      // Programs get JSON, as does any request for an API address.
      for (const other of [undefined, "*/*", "application/json", "text/html;q=0"]) {
        expect(notFoundPageFor(set, { path: "/nonsense", accept: other })).toBeUndefined()
      }
      for (const path of [
        "/api/v1/nonsense",
        "/api",
        "/auth/x",
        "/oauth/x",
        "/hooks/x",
        "/.well-known/x",
        "/assets/x.js"
      ]) {
        expect(notFoundPageFor(set, { path, accept })).toBeUndefined()
      }
    })
  )

  it.live("no dashboard page contains an inline script, style or handler", () =>
    Effect.gen(function* () {
      for (const [path, asset] of yield* assets) {
        if (!path.endsWith(".html")) continue
        const html = text(asset.identity)
        expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/)
        expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=/)
      }
    })
  )

  it.live("every file that a dashboard page references exists and may be cached forever", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const html = text(assetFor(set, { path: "/" })?.body)
      const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "")
      expect(named.length).toBeGreaterThan(3)
      for (const path of named)
        expect(assetFor(set, { path })?.headers["cache-control"]).toBe("public, max-age=31536000, immutable")
    })
  )

  it.live(
    "each typeface is a separate file of at most 60 KB, cached forever, and a page requests only one typeface",
    () =>
      Effect.gen(function* () {
        const set = yield* assets
        const faces = [...set.values()].filter(({ contentType }) => contentType === "font/woff2")
        expect(faces.map(({ path }) => path.replace(/-[^-]+\.woff2$/, "").replace("/assets/", "")).toSorted()).toEqual([
          "geist-latin-wght-normal",
          "geist-mono-latin-wght-normal"
        ])
        expect(faces.reduce((sum, { identity }) => sum + identity.byteLength, 0)).toBeLessThanOrEqual(60 * 1024)
        const style = text([...set.values()].find(({ path }) => path.endsWith(".css"))?.identity)
        for (const { path } of faces) {
          const served = assetFor(set, { path, acceptEncoding: "br, gzip" })
          expect(served?.headers).toMatchObject({
            "content-type": "font/woff2",
            "cache-control": "public, max-age=31536000, immutable"
          })
          expect(served?.headers["content-encoding"]).toBeUndefined()
          // `wOF2` is the signature of a WOFF2 file.
          expect(text(served?.body.slice(0, 4))).toBe("wOF2")
          expect(style).toContain(`url(${path})`)
        }
        expect(style).not.toContain("url(data:font")
        expect(style.match(/font-display:swap/g)).toHaveLength(2)
        for (const path of ["/", "/sign-in"]) {
          const preloads = [...text(assetFor(set, { path })?.body).matchAll(/<link rel="preload"[^>]*>/g)].map(
            ([tag]) => tag
          )
          expect(preloads).toHaveLength(1)
          expect(preloads[0]).toMatch(/href="\/assets\/geist-latin-wght-normal-[^"]+"/)
          expect(preloads[0]).toContain('crossorigin="anonymous"')
        }
      })
  )

  it.live("a page references the chunks of the screen at its address, so that they load in parallel", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const scripts = (path: string) =>
        [...text(assetFor(set, { path })?.body).matchAll(/href="([^"]+\.js)"/g)].map(([, file = ""]) => file)
      const parts = (path: string) => scripts(path).filter((file) => !scripts("/w/acme/activity").includes(file))
      const names = (path: string) => parts(path).map((file) => /\/assets\/([A-Za-z]+)-/.exec(file)?.[1])
      expect(names("/w/acme/runs/run_1")).toContain("RunScreen")
      expect(names("/runs/run_1")).toContain("RunScreen")
      expect(names("/w/acme/capsules/cap_1/state")).toContain("CapsuleScreen")
      expect(names("/w/acme/")).toContain("HomeScreen")
      expect(names("/install")).toContain("InstallScreen")
      expect(names("/w/acme/graph")).toEqual([])
    })
  )

  // Without HTTP/2, a browser sends six requests at a time; see app/Kit.ts for how chunks are kept together.
  it.live("a page initially loads few files, and loads other chunks on demand", () =>
    Effect.gen(function* () {
      const set = yield* assets
      for (const path of ["/", "/runs/run_1", "/w/acme/runs", "/w/acme/capsules", "/new", "/account"]) {
        const html = text(assetFor(set, { path })?.body)
        // Counts only files that a page loads immediately. A page that needs a worker starts the worker later.
        expect(html.match(/(?:src|href)="\/assets\/[\w.-]+\.js"/g)?.length).toBeLessThan(21)
      }
    })
  )

  it.live(
    "the first frame of a page is drawn without JavaScript, and its early requests start before the code arrives",
    () =>
      Effect.gen(function* () {
        const html = text(assetFor(yield* assets, { path: "/w/acme" })?.body)
        expect(html).toContain('class="side-nav"')
        expect(html.indexOf("/assets/Start-")).toBeLessThan(html.indexOf('rel="stylesheet"'))
        expect(html.indexOf("/assets/Start-")).toBeLessThan(html.indexOf('rel="modulepreload"'))
      })
  )

  it.live("compressed copies of dashboard files decompress to the same bytes", () =>
    Effect.gen(function* () {
      const set = yield* assets
      for (const asset of set.values()) {
        if (asset.br === undefined || asset.gzip === undefined) continue
        expect(Buffer.compare(brotliDecompressSync(asset.br), asset.identity)).toBe(0)
        expect(Buffer.compare(gunzipSync(asset.gzip), asset.identity)).toBe(0)
      }
    })
  )

  it.live("a dashboard file is sent in an encoding that the browser accepts", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const coding = (acceptEncoding?: string) =>
        assetFor(set, { path: "/", acceptEncoding })?.headers["content-encoding"]
      expect(coding("gzip, deflate, br, zstd")).toBe("br")
      expect(coding("gzip")).toBe("gzip")
      expect(coding("br;q=0, gzip")).toBe("gzip")
      expect(coding("*")).toBe("br")
      expect(coding("identity")).toBeUndefined()
      expect(coding()).toBeUndefined()
    })
  )

  it.live("an unchanged page is not sent again, and each encoding has its own entity tag", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const first = assetFor(set, { path: "/", acceptEncoding: "br" })
      const again = assetFor(set, { path: "/", acceptEncoding: "br", ifNoneMatch: first?.headers.etag })
      expect(again?.status).toBe(304)
      expect(again?.body.byteLength).toBe(0)
      expect(assetFor(set, { path: "/", ifNoneMatch: first?.headers.etag })?.status).toBe(200)
    })
  )

  it.live("the sign-in page without JavaScript is in the browser's language", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const page = (acceptLanguage?: string) => text(assetFor(set, { path: "/sign-in", acceptLanguage })?.body)
      expect(page("ja,en;q=0.8")).toContain("サインイン")
      expect(page("en-GB,ja;q=0.5")).toContain("Sign in")
      expect(page()).toContain('lang="en"')
      expect(page("ja")).toContain('lang="ja"')
    })
  )

  it.live("the dashboard does not handle paths outside it", () =>
    Effect.gen(function* () {
      const set = yield* assets
      for (const path of [
        "/api/v1/runs",
        "/healthz",
        "/openapi.json",
        "/assets/../app.html",
        "/assets/none.js",
        "/app.html",
        "/sign-in.en.html",
        "/w/",
        "/w/UPPER"
      ]) {
        expect(assetFor(set, { path })).toBeUndefined()
      }
      for (const path of [
        "/",
        "/new",
        "/install",
        "/setup",
        "/w/acme",
        "/w/acme/capsules/cap_1/state",
        "/runs/run_1",
        "/account"
      ]) {
        expect(isDashboardPage(path)).toBe(true)
      }
    })
  )

  // Only the chunk for document links contains the server's parser. This chunk is loaded when a person opens a document
  // link.
  it.live("no initial script of a page contains the server's runtime", () =>
    Effect.gen(function* () {
      const set = yield* assets
      const open = [...set].flatMap(([path, asset]) =>
        path.endsWith(".html") ? [...text(asset.identity).matchAll(/\/assets\/[\w.-]+\.js/g)].map(([file]) => file) : []
      )
      const initial = new Set<string>()
      for (let file = open.pop(); file !== undefined; file = open.pop()) {
        if (initial.has(file)) continue
        initial.add(file)
        const code = text(set.get(file)?.identity ?? new Uint8Array())
        for (const [, imported] of code.matchAll(/(?:from|^import|;import)"(\/assets\/[\w.-]+\.js)"/g)) {
          if (imported !== undefined) open.push(imported)
        }
      }
      expect(initial.size).toBeGreaterThan(2)
      for (const file of initial) expect(text(set.get(file)?.identity ?? new Uint8Array())).not.toContain("~effect/")
    })
  )

  it.live("a release sends at most 170 KB of JavaScript before the first screen", () =>
    Effect.gen(function* () {
      const released = yield* buildDashboard("best")
      const pages = ["/app.html", ...appPages.map(({ name }) => `/app.${name}.html`), "/sign-in.en.html"]
      for (const page of pages) {
        const scripts = [...text(released.get(page)?.identity).matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)]
        expect(scripts.length).toBeGreaterThan(1)
        const size = scripts.reduce((sum, [, path = ""]) => sum + (released.get(path)?.br?.byteLength ?? Number.NaN), 0)
        expect(size).toBeLessThan(170 * 1024)
      }
    })
  )
})
