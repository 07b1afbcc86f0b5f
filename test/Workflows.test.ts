import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = `${root}.github/workflows`
const workflows = readdirSync(folder).map((name) => `${folder}/${name}`)
const commands = [...workflows, `${root}.ci/run`].map((file) => readFileSync(file, "utf8")).join("\n")

describe("Workflows", () => {
  test("the workflows and .ci/run call only scripts that exist", () => {
    const called = [...commands.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name)
    expect(called).toContain("release")
    expect(called.filter((name) => !(name in manifest.scripts))).toEqual([])
    const local = [...commands.matchAll(/uses: \.\/(\S+)/g)].map(([, name = ""]) => `${root}${name}`)
    expect(local.filter((name) => !workflows.includes(name))).toEqual([])
  })

  test("every suite of a package or of an artefact is part of a workflow", () => {
    for (const name of ["test:deb", "test:chart", "test:targets", "test:packages", "reproducible", "advisories"]) {
      expect([name, commands.includes(`npm run ${name}`)]).toEqual([name, true])
    }
  })
})
