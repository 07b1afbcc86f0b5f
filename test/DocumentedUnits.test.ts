import { NodeServices } from "@effect/platform-node"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { packagedPages } from "../scripts/packages/DebPages.ts"
import { it } from "./support/Effect.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const packaged = packagedPages(root).pipe(Effect.provide(NodeServices.layer))

describe("Pages of the Debian package", () => {
  it.live("the Documentation of every systemd unit is a page that the Debian package contains", () =>
    Effect.gen(function* () {
      const pages = yield* packaged
      const units = ["docs", "examples"].flatMap((folder) =>
        [...new Bun.Glob("**/*.service").scanSync({ cwd: `${root}${folder}` })].map((name) => `${folder}/${name}`)
      )
      expect(units).toContain("docs/operations/svc.service")
      for (const unit of units) {
        const [, place = ""] = /^Documentation=(.*)$/m.exec(readFileSync(`${root}${unit}`, "utf8")) ?? []
        if (place === "") continue
        const page = place.replace("file:///usr/share/doc/svc/", "")
        expect([unit, existsSync(`${root}docs/${page}`), pages.has(page)]).toEqual([unit, true, true])
      }
    })
  )

  it.live(
    "a page of the Debian package links only to files in the package, and keeps the text of its other links",
    () =>
      Effect.gen(function* () {
        const pages = yield* packaged
        expect([...pages.keys()]).toContain("webhooks/github.md")
        const lost = [...pages].flatMap(([page, text]) =>
          [...(page.endsWith(".md") ? text : "").matchAll(/\]\(([^():#]+)(?:#[^()]*)?\)/g)]
            .map(([, target = ""]) => join(dirname(page), target))
            .filter((target) => !pages.has(target))
            .map((target) => `${page}: ${target}`)
        )
        expect(lost).toEqual([])
        expect(pages.get("sizing.md")).toContain("the table of performance |")
        expect(pages.get("tls.md")).toContain("](examples/proxies/Caddyfile)")
        expect(pages.get("sizing.md")).toContain("[agents](agents.md)")
      })
  )
})
