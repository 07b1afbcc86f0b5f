// Prints figures about the size and structure of the code: `node scripts/bun.mjs scripts/house-figures.ts [folder]`. Pass the
// folder of another checkout to compare two commits.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize, resolve } from "node:path"

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."))
const rooms = ["schema", "runner", "actors", "src"]

const files = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
    .map((name) => {
      const path = join(room, name)
      const text = readFileSync(join(root, path), "utf8")
      // Matches the imports at the top of a file: everything up to the last `from "..."` or `import "..."` before the first
      // declaration.
      const head =
        /^(?:\s*(?:\/\/[^\n]*\n|\/\*[\s\S]*?\*\/))*\s*(?:import[\s\S]*?["'][^"'\n]+["'][^\n]*\n\s*)*/.exec(text)?.[0] ??
        ""
      const targets = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"'\n]+)["']/g)].map(([, to = ""]) =>
        normalize(join(dirname(path), to))
      )
      const statements = head.match(/import[\s\S]*?["'][^"'\n]+["'][^\n]*\n/g) ?? []
      return {
        path,
        lines: text.split("\n").length - 1,
        importLines: statements.reduce((sum, statement) => sum + statement.trim().split("\n").length, 0),
        targets
      }
    })
)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)
const lengths = files.map(({ lines }) => lines).toSorted((left, right) => left - right)
const lines = sum(lengths)
const importers = Map.groupBy(
  files.flatMap(({ path, targets }) => targets.map((to) => ({ from: path, to }))),
  ({ to }) => to
)
const single = files.filter(({ path }) => {
  const from = new Set((importers.get(path) ?? []).map(({ from }) => from))
  const [only] = from
  return from.size === 1 && only !== undefined && dirname(only) === dirname(path)
})
const arrows = new Set(
  files.flatMap(({ path, targets }) =>
    targets.flatMap((to) => (dirname(to) === dirname(path) ? [] : [`${dirname(path)} -> ${dirname(to)}`]))
  )
)
const ofRun = files.filter(({ path }) => /\/Runs?(?:[A-Z]|\.)/.test(path))
const folders = (of: typeof files) => new Set(of.map(({ path }) => dirname(path))).size
const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
const row = (name: string, value: number | string) => process.stdout.write(`${name.padEnd(48)}${value}\n`)

row("files", files.length)
for (const room of rooms) row(`  ${room}`, files.filter(({ path }) => path.startsWith(`${room}/`)).length)
row("lines", lines)
row("lines a file, mean / median", `${Math.round(lines / files.length)} / ${lengths[Math.floor(lengths.length / 2)]}`)
row("share of lines that are imports", share(sum(files.map(({ importLines }) => importLines)), lines))
row("folders", folders(files))
row(
  "folders directly in actors/",
  new Set(files.flatMap(({ path }) => /^actors\/([^/]+)\//.exec(path)?.[1] ?? [])).size
)
row("arrows between folders", arrows.size)
row("files named after Run / their folders", `${ofRun.length} / ${folders(ofRun)}`)
row("files that only a neighbour imports", single.length)
row("imports of actors/Runtime.ts", files.find(({ path }) => path === "actors/Runtime.ts")?.targets.length ?? 0)

// The paths of five requests through the code, split into steps from one file to another. For each step, the reader follows
// the shortest chain of imports. If a step has no chain, the script fails, because the path has changed.
const journeys: Readonly<Record<string, ReadonlyArray<readonly [from: string, to: string]>>> = {
  "install, from POST to the queued Run": [
    ["src/http/handlers/PlanHandlers.ts", "actors/commands/install-plan/InstallPlans.ts"],
    ["actors/commands/install-plan/InstallPlansLive.ts", "schema/commands/InstallPlanCommands.ts"],
    ["actors/commands/install-plan/InstallPlanActor.ts", "actors/commands/install-plan/InstallPlanStore.ts"],
    ["actors/commands/install-plan/InstallPlanSteps.ts", "actors/ledger/run/RunLedger.ts"]
  ],
  "approval, from POST to the event": [
    ["src/http/handlers/RunHandlers.ts", "actors/ledger/run/Runs.ts"],
    ["actors/commands/run/RunsLive.ts", "schema/commands/RunCommands.ts"],
    ["actors/commands/run/RunActor.ts", "actors/access/approval/ApprovalDecision.ts"],
    ["actors/commands/run/RunActor.ts", "actors/ledger/run/RunJournal.ts"]
  ],
  "log line, from the tool to the reader": [
    ["runner/execution/ToolRun.ts", "runner/execution/RunSink.ts"],
    ["actors/running/execution/RunExecutor.ts", "actors/ledger/run/RunLogs.ts"],
    ["src/http/handlers/RunHandlers.ts", "src/streams/RunFeeds.ts"]
  ],
  "checkpoint, from the tool's file to the row": [
    ["runner/execution/ApplyExecution.ts", "runner/execution/StateWatch.ts"],
    ["runner/execution/StateWatch.ts", "runner/execution/RunSink.ts"],
    ["actors/running/execution/RunExecutor.ts", "actors/ledger/state/RunCheckpoints.ts"]
  ],
  "Output, from the apply to the next input": [
    ["runner/execution/ApplyExecution.ts", "runner/execution/StateDocument.ts"],
    ["actors/running/execution/ApplySettlement.ts", "actors/ledger/state/StateVersions.ts"],
    ["actors/running/execution/RunInputs.ts", "actors/running/execution/OutputInjection.ts"],
    ["actors/running/execution/OutputInjection.ts", "actors/ledger/state/StateVersions.ts"]
  ]
}

const importsOf = new Map(files.map(({ path, targets }) => [path, targets]))

/** Returns the files in the shortest chain of imports, including both ends, or `undefined` if there is no chain. */
const chain = (from: string, to: string): ReadonlyArray<string> | undefined => {
  const reached = new Map<string, string | undefined>([[from, undefined]])
  for (const path of reached.keys()) {
    for (const target of importsOf.get(path) ?? []) if (!reached.has(target)) reached.set(target, path)
  }
  if (!importsOf.has(from) || !reached.has(to)) return undefined
  const found: Array<string> = []
  for (let path: string | undefined = to; path !== undefined; path = reached.get(path)) found.push(path)
  return found
}

process.stdout.write("files on the shortest way of\n")
for (const [name, legs] of Object.entries(journeys)) {
  const chains = legs.map(([from, to]) => chain(from, to) ?? `no imports lead from ${from} to ${to}`)
  const broken = chains.filter((one) => typeof one === "string")
  if (broken.length > 0) throw new Error(`${name}: ${broken.join("; ")}`)
  row(`  ${name}`, new Set(chains.flat()).size)
}
