import { describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = `${root}.github/workflows`
const workflows = readdirSync(folder).map((name) => `${folder}/${name}`)
const textOf = (name: string) => readFileSync(`${folder}/${name}`, "utf8")
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
    for (const name of [
      "test:deb",
      "test:chart",
      "test:targets",
      "test:packages",
      "test:postgres",
      "test:nodes",
      "docs",
      "reproducible",
      "advisories"
    ]) {
      expect([name, commands.includes(`npm run ${name}`)]).toEqual([name, true])
    }
  })

  test("the long workflow runs the suites of several servers in their long form", () => {
    const called = [...textOf("long.yml").matchAll(/npm run (test:(?:postgres|nodes)[^\n]*)/g)].map(([, call]) => call)
    expect(called).toContain("test:postgres")
    expect(called.filter((call = "") => call.startsWith("test:nodes"))).toHaveLength(1)
    expect(called.filter((call = "") => call.includes("--short"))).toEqual([])
  })

  test("every job with suites fails if a suite's program is missing", () => {
    const jobs = textOf("long.yml")
      .split(/^ {2}(?=\w+:$)/m)
      .filter((job) => job.includes("npm run test:"))
    expect(jobs.map((job) => job.includes('SVC_TEST_REQUIRE_ALL: "1"'))).toEqual([true, true, true])
  })

  test("the images of a release get the tag that the chart takes, in a lower-case repository", () => {
    const [, script = ""] = /^ +- name: Images and chart\n +run: \|\n([^]*?)^ +env:$/m.exec(textOf("release.yml")) ?? []
    const programs = mkdtempSync(`${tmpdir()}/svc-workflow-`)
    try {
      for (const name of ["skopeo", "docker", "helm"]) {
        writeFileSync(`${programs}/${name}`, '#!/bin/sh\necho "${0##*/} $*"\n', { mode: 0o755 })
      }
      const env = { PATH: `${programs}:/usr/bin:/bin`, GITHUB_REF_NAME: "v1.2.3", REGISTRY: "ghcr.io/Some/Svc" }
      const { stdout } = Bun.spawnSync(["bash", "-e", "-c", script], { env })
      const calls = stdout.toString().split("\n")
      const image = "ghcr.io/some/svc:1.2.3"
      const index = `docker buildx imagetools create --tag ${image} ${image}-amd64 ${image}-arm64`
      expect(calls.indexOf(index)).toBeGreaterThan(calls.findIndex((call) => call.endsWith(`docker://${image}-arm64`)))
      expect(calls).toContain("helm push dist/release/svc-1.2.3.tgz oci://ghcr.io/some/svc/charts")
    } finally {
      rmSync(programs, { recursive: true })
    }
  })
})
