import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { Schema } from "effect"
import manifest from "../../package.json" with { type: "json" }

const root = new URL("../../", import.meta.url)
const folder = new URL(".github/workflows/", root)

const Step = Schema.Struct({
  uses: Schema.optional(Schema.String),
  run: Schema.optional(Schema.String),
  with: Schema.optional(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])))
})
const Workflow = Schema.Struct({
  name: Schema.String,
  on: Schema.Record(Schema.String, Schema.Json),
  permissions: Schema.Record(Schema.String, Schema.String),
  jobs: Schema.Record(
    Schema.String,
    Schema.Struct({
      uses: Schema.optional(Schema.String),
      needs: Schema.optional(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
      permissions: Schema.optional(Schema.Record(Schema.String, Schema.String)),
      steps: Schema.optional(Schema.Array(Step))
    })
  )
})

const workflows = readdirSync(folder).map(
  (file) =>
    [file, Schema.decodeUnknownSync(Workflow)(Bun.YAML.parse(readFileSync(new URL(file, folder), "utf8")))] as const
)
const jobs = workflows.flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => ({ file, job, name, others: Object.keys(jobs) }))
)
const steps = jobs.flatMap(({ file, job, name }) => (job.steps ?? []).map((step) => ({ file, job, name, step })))

/** The scripts of package.json, and the files of the repository, that a step's commands call. */
const called = (run: string) => ({
  scripts: [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name),
  files: [...run.matchAll(/(?<![\w./-])((?:\.ci|scripts|test)\/[\w./-]+)/g)].map(([, name = ""]) => name)
})

describe("Workflow files", () => {
  test("every workflow parses, and its jobs need and use only what exists", () => {
    expect(workflows.map(([file]) => file).toSorted()).toEqual(["long.yml", "release.yml", "test.yml"])
    for (const { file, job, others } of jobs) {
      for (const needed of [job.needs ?? []].flat())
        expect([file, others]).toEqual([file, expect.arrayContaining([needed])])
      if (job.uses !== undefined) expect([job.uses, existsSync(new URL(job.uses, root))]).toEqual([job.uses, true])
    }
  })

  test("every script that a workflow calls exists", () => {
    const scripts: Readonly<Record<string, string>> = manifest.scripts
    const all = steps.map(({ step }) => called(step.run ?? ""))
    const names = all.flatMap((one) => one.scripts)
    expect(names).toEqual(expect.arrayContaining(["release", "reproducible", "test:chart", "test:deb", "test:targets"]))
    expect(names.filter((name) => !(name in scripts))).toEqual([])
    const files = all.flatMap((one) => one.files)
    expect(files).toContain(".ci/run")
    expect(files.filter((name) => !existsSync(new URL(name, root)))).toEqual([])
    // A script of package.json that calls a file calls one that exists.
    const inScripts = Object.values(scripts).flatMap(
      (script) => script.match(/(?:scripts|test)\/[\w./-]+\.(?:ts|mjs)/g) ?? []
    )
    expect(inScripts.length).toBeGreaterThan(30)
    expect(inScripts.filter((name) => !existsSync(new URL(name, root)))).toEqual([])
  })

  test("a release attests how its files were built, and the bill of materials of the programs", () => {
    const attesting = steps.filter(({ step }) => step.uses?.startsWith("actions/attest") === true)
    expect(attesting.map(({ name, step }) => [name, step.uses])).toEqual([
      ["build", "actions/attest-build-provenance@v3"],
      ["build", "actions/attest@v4"]
    ])
    expect(attesting.map(({ step }) => step.with)).toEqual([
      { "subject-checksums": "dist/release/SHA256SUMS" },
      {
        "subject-path": expect.stringContaining("dist/release/svc-linux-*"),
        "sbom-path": "dist/release/svc.cdx.json"
      }
    ])
    for (const { job } of attesting) {
      expect(job.permissions).toMatchObject({ "id-token": "write", attestations: "write" })
    }
  })
})
