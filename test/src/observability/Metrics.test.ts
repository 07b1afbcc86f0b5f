import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { OperatorListener } from "../../../src/observability/OperatorListener.ts"
import { folder, live } from "../cli/support/CommandLine.ts"
import { serve } from "../operator/support/Server.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const examples = `${root}/examples/monitoring`
const program = Bun.which("promtool")
const hasPromtool = program !== null

const promtool = (args: ReadonlyArray<string>, input = "") => {
  const { status, stderr, stdout } = spawnSync(program ?? "", args, { input, encoding: "utf8" })
  return { status, said: `${stdout}${stderr}`.trim() }
}

const sources = (under: string): ReadonlyArray<string> =>
  readdirSync(`${root}/${under}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(`${root}/${under}/${name}`, "utf8"))

/** Finds the names of all metrics that the code declares. */
const declared = [
  ...new Set(
    ["actors", "src"]
      .flatMap(sources)
      .flatMap((text) => [...text.matchAll(/Metric\.(?:counter|gauge|histogram)\(\s*"([a-z_]+)"/g)])
      .map(([, name = ""]) => name)
  )
].toSorted()

const named = (text: string) => [...new Set([...text.matchAll(/\b(?:svc|process)_[a-z_]+\b/g)].map(([name]) => name))]

test("the operator's documentation explains exactly the metrics that exist", () => {
  const document = readFileSync(`${root}/docs/operations/metrics.md`, "utf8")
  const [, section = ""] = /# Metrics and traces\n([\s\S]*)/.exec(document) ?? []
  const rows = section.split("\n").filter((line) => line.startsWith("| `"))
  expect(rows.flatMap((row) => named(row.split("|")[1] ?? "")).toSorted()).toEqual(declared)
})

test("the alerts and the dashboard use existing metrics", () => {
  const known = new Set(declared.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]))
  for (const file of ["alerts.yml", "dashboard.json"]) {
    const used = named(readFileSync(`${examples}/${file}`, "utf8"))
    expect(used.length).toBeGreaterThan(3)
    expect(used.filter((name) => !known.has(name))).toEqual([])
  }
})

test("every alert has instructions and a test case", () => {
  const alerts = readFileSync(`${examples}/alerts.yml`, "utf8")
  const cases = readFileSync(`${examples}/alerts.test.yml`, "utf8")
  const names = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name = ""]) => name)
  expect(names.length).toBeGreaterThan(4)
  expect([...alerts.matchAll(/ action: "/g)]).toHaveLength(names.length)
  for (const name of names) expect(cases).toContain(`alertname: ${name}`)
})

live("a scrape has help text for every metric, and contains no library metrics", () =>
  Effect.gen(function* () {
    const { services, url } = yield* serve(`${yield* folder}/data`, new Map([["operatorListen", "127.0.0.1:0"]]))
    yield* Effect.promise(() => fetch(`${url}/.well-known/svc`))
    const scraped = `${Context.get(services, OperatorListener).url}/metrics`
    const text = yield* Effect.promise(async () => (await fetch(scraped)).text())
    const families = [...text.matchAll(/^# TYPE (\S+) \S+$/gm)].map(([, name = ""]) => name)
    expect(families).toContain("svc_build_info")
    expect(families).toContain("process_cpu_seconds_total")
    expect(families).toContain("svc_http_requests_total")
    expect(families.filter((name) => !text.includes(`# HELP ${name} `))).toEqual([])
    expect(families.filter((name) => !declared.includes(name))).toEqual([])
    if (hasPromtool) expect(promtool(["check", "metrics"], text)).toEqual({ status: 0, said: "" })
  })
)

test("promtool is installed if SVC_TEST_REQUIRE_ALL is set", () => {
  if (process.env["SVC_TEST_REQUIRE_ALL"] === "1") expect(hasPromtool).toBe(true)
})

describe.skipIf(!hasPromtool)("promtool", () => {
  test("promtool accepts the configuration and the rules, and their test cases pass", () => {
    expect(promtool(["check", "config", `${examples}/prometheus.yml`]).status).toBe(0)
    const { said, status } = promtool(["test", "rules", `${examples}/alerts.test.yml`])
    expect([status, said]).toEqual([0, expect.stringContaining("SUCCESS")])
  })
})
