import { describe, expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

describe("Documented units", () => {
  test("the Documentation of every systemd unit is a page that the Debian package contains", () => {
    const units = ["docs", "examples"].flatMap((folder) =>
      [...new Bun.Glob("**/*.service").scanSync({ cwd: `${root}${folder}` })].map((name) => `${folder}/${name}`)
    )
    expect(units).toContain("docs/operations/svc.service")
    const packaged = readFileSync(`${root}scripts/packages/DebPackage.ts`, "utf8")
    for (const unit of units) {
      const [, place = ""] = /^Documentation=(.*)$/m.exec(readFileSync(`${root}${unit}`, "utf8")) ?? []
      if (place === "") continue
      const page = place.replace("file:///usr/share/doc/svc/", "")
      expect([unit, existsSync(`${root}docs/${page}`), packaged.includes(`"${page}"`)]).toEqual([unit, true, true])
    }
  })
})
