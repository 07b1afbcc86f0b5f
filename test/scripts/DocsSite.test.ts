import { NodeServices } from "@effect/platform-node"
import { describe, expect, test } from "bun:test"
import { Effect, Path } from "effect"
import { fileURLToPath } from "node:url"
import { docsSite, preparedPage } from "../../scripts/DocsSite.ts"
import { it } from "../support/Effect.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

describe("Documentation site", () => {
  it.live("every page of docs/ is in exactly one section of the sidebar, and every linked file and image exists", () =>
    Effect.gen(function* () {
      const site = yield* docsSite(root)
      const linked = site.sections.flatMap(({ items }) => items.map((item) => `${item.link.slice(1)}.md`))
      expect(linked.toSorted()).toEqual([...new Set(linked)].toSorted())
      const pages = [...site.pages.keys()].filter((name) => name !== "index.md" && !name.startsWith("examples/"))
      expect(linked.toSorted()).toEqual(pages.toSorted())
      // The generator does not tell capital letters from small ones.
      expect(new Set([...site.pages.keys()].map((name) => name.toLowerCase())).size).toBe(site.pages.size)
      for (const name of [...site.copied, ...site.images]) {
        const exists = yield* Effect.promise(() => Bun.file(`${root}/${name}`).stat()).pipe(Effect.exit)
        expect([name, exists._tag]).toEqual([name, "Success"])
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  test("a link to a file that is not a page becomes plain HTML, and all other links stay unchanged", () => {
    const text = "[a](b.md#c) [`unit`](operations/svc.service) [web](https://example.com/x) ![p](p.png) [here](#here)"
    const path = Effect.runSync(Effect.provide(Path.Path, Path.layer))
    expect(preparedPage(text, "docs/operations.md", path)).toEqual({
      text: '[a](b.md#c) <a href="operations/svc.service" target="_self">`unit`</a> [web](https://example.com/x) ![p](p.png) [here](#here)',
      copied: ["docs/operations/svc.service"],
      images: ["docs/p.png"]
    })
  })

  test("links and images lead to the paths of the site", () => {
    const path = Effect.runSync(Effect.provide(Path.Path, Path.layer))
    const { text } = preparedPage("[a](docs/a.md#b) [c](SECURITY.md) ![p](docs/pictures/p.png)", "README.md", path)
    expect(text).toBe("[a](a.md#b) [c](project/SECURITY.md) ![p](pictures/p.png)")
    expect(preparedPage("[a](../../CHANGELOG.md)", "docs/builders/a.md", path).text).toBe(
      "[a](../project/CHANGELOG.md)"
    )
    expect(preparedPage("[a](../README.md) [e](../examples/m/README.md)", "docs/a.md", path).text).toBe(
      "[a](index.md) [e](examples/m/README.md)"
    )
  })
})
