import { NodeServices } from "@effect/platform-node"
import { afterAll, describe, expect } from "bun:test"
import { Effect, FileSystem, Layer, type Scope } from "effect"
import { fileURLToPath } from "node:url"
import { contentSecurityPolicy } from "../../../src/dashboard/Assets.ts"
import { packDocs, sha256Of, unpackDocs } from "../../../src/http/DocsArchive.ts"
import { BuiltDocs, type DocsPlace } from "../../../src/http/DocsFiles.ts"
import { suite } from "../../support/Effect.ts"
import { send, TestApplication } from "./support/TestApplication.ts"

const bytesOf = (text: string) => new Uint8Array(new TextEncoder().encode(text))

const contents: Readonly<Record<string, string>> = {
  "404.html": "<p>no such page</p>",
  "assets/app.1a2b.js": "export {}",
  "index.html": "<p>first page</p>",
  "operations/index.html": "<p>operations</p>",
  "operations/svc.service": "[Unit]",
  "quickstart.html": "<p>quickstart</p>"
}

const files = Object.entries(contents).map(([path, text]) => {
  const bytes = bytesOf(text)
  return { path, bytes, sha256: sha256Of(bytes) }
})

const served = (place: Effect.Effect<DocsPlace | undefined, unknown, FileSystem.FileSystem | Scope.Scope>) =>
  TestApplication.layer.pipe(
    Layer.provideMerge(Layer.effect(BuiltDocs, Effect.orDie(place))),
    Layer.provideMerge(NodeServices.layer)
  )

const folder = Effect.flatMap(FileSystem.FileSystem, (all) => all.makeTempDirectoryScoped({ prefix: "svc-docs-" }))

const archived = suite(
  served(
    Effect.gen(function* () {
      const all = yield* FileSystem.FileSystem
      const file = `${yield* folder}/Docs.br`
      yield* all.writeFile(file, yield* packDocs(files))
      return { kind: "archive", file } as const
    })
  )
)
const without = suite(served(Effect.succeed(undefined)))
const checkout = suite(served(Effect.map(folder, (place) => ({ kind: "folder", folder: place }) as const)))
afterAll(() => Promise.all([archived.dispose(), without.dispose(), checkout.dispose()]))

const text = (response: Response) => Effect.promise(() => response.text())

describe("Documentation", () => {
  archived.live("an archive gives back every file", () =>
    Effect.gen(function* () {
      const unpacked = yield* unpackDocs(yield* packDocs(files))
      expect(unpacked.map(({ bytes, path }) => [path, new TextDecoder().decode(bytes)])).toEqual(
        Object.entries(contents)
      )
      expect(unpacked.map(({ sha256 }) => sha256)).toEqual(files.map(({ sha256 }) => sha256))
    })
  )

  archived.live("pages are served with the policy of the dashboard, with and without their extension", () =>
    Effect.gen(function* () {
      for (const [path, page] of [
        ["/docs/", "<p>first page</p>"],
        ["/docs/quickstart.html", "<p>quickstart</p>"],
        ["/docs/quickstart?from=help", "<p>quickstart</p>"],
        ["/docs/%71uickstart", "<p>quickstart</p>"],
        ["/docs/operations/", "<p>operations</p>"]
      ] as const) {
        const response = yield* send(path)
        expect([path, response.status, yield* text(response)]).toEqual([path, 200, page])
        expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8")
        expect(response.headers.get("content-security-policy")).toBe(contentSecurityPolicy)
        expect(response.headers.get("cache-control")).toBe("no-cache")
      }
      const redirected = yield* send("/docs")
      expect([redirected.status, redirected.headers.get("location")]).toEqual([308, "/docs/"])
    })
  )

  archived.live("files are served with their types, and only hashed names are cached forever", () =>
    Effect.gen(function* () {
      const script = yield* send("/docs/assets/app.1a2b.js")
      expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8")
      expect(script.headers.get("cache-control")).toContain("immutable")
      const unit = yield* send("/docs/operations/svc.service")
      expect(unit.headers.get("content-type")).toBe("text/plain; charset=utf-8")
      expect(unit.headers.get("x-content-type-options")).toBe("nosniff")
    })
  )

  archived.live("an unchanged page is not sent again, and a page is compressed for clients that accept it", () =>
    Effect.gen(function* () {
      const etag = (yield* send("/docs/")).headers.get("etag") ?? ""
      const again = yield* send("/docs/", { headers: { "if-none-match": etag } })
      expect([again.status, yield* text(again)]).toEqual([304, ""])
      const compressed = yield* send("/docs/", { headers: { "accept-encoding": "gzip" } })
      expect(compressed.headers.get("content-encoding")).toBe("gzip")
      const body = new Uint8Array(yield* Effect.promise(() => compressed.arrayBuffer()))
      expect(new TextDecoder().decode(Bun.gunzipSync(body))).toBe("<p>first page</p>")
      expect(compressed.headers.get("etag")).not.toBe(etag)
    })
  )

  archived.live("an unknown address gets the page for it, and no address leads out of the documentation", () =>
    Effect.gen(function* () {
      for (const path of ["/docs/nothing", "/docs/%2e%2e%2f%2e%2e%2fetc/passwd", "/docs/assets"]) {
        const response = yield* send(path)
        expect([path, response.status, yield* text(response)]).toEqual([path, 404, "<p>no such page</p>"])
      }
      expect((yield* send("/docs/%zz")).status).toBe(404)
      expect((yield* send("/docs/", { method: "POST" })).status).toBe(404)
    })
  )

  without.live("a server without documentation says how to get it", () =>
    Effect.gen(function* () {
      const response = yield* send("/docs/quickstart.html")
      expect(response.status).toBe(404)
      expect(yield* text(response)).toContain("<code>npm run docs</code>")
    })
  )

  checkout.live("a checkout serves the pages as soon as they are built, and nothing beside them", () =>
    Effect.gen(function* () {
      const all = yield* FileSystem.FileSystem
      const place = yield* BuiltDocs
      const built = place?.kind === "folder" ? place.folder : ""
      expect(yield* text(yield* send("/docs/"))).toContain("<code>npm run docs</code>")
      yield* all.makeDirectory(`${built}/operations`, { recursive: true })
      yield* all.writeFileString(`${built}/index.html`, "<p>first page</p>")
      yield* all.writeFileString(`${built}/operations/a.html`, "<p>a</p>")
      expect(yield* text(yield* send("/docs/"))).toBe("<p>first page</p>")
      expect(yield* text(yield* send("/docs/operations/a"))).toBe("<p>a</p>")
      for (const path of ["/docs/operations", "/docs/..%2f", `/docs/%2e%2e%2f${fileURLToPath(import.meta.url)}`]) {
        expect([path, (yield* send(path)).status]).toEqual([path, 404])
      }
    })
  )
})
