import { expect, test } from "bun:test"
import { models, sourceFiles } from "./support/Models.ts"

const ownerOf = new Map(models.map(({ folder, model }) => [model.name, folder]))
const tableOf = new Map(models.map(({ constant, model }) => [constant, model.name]))

/** Known writes to tables that other folders own. Entries may be removed, but never added. */
const exceptions: ReadonlyArray<string> = [
  // Any folder may read roles, but only the role commands write them.
  "actors/access/member/Members.ts writes memberships of actors/ledger/workspace",
  // Dependencies are stored with the consumption of Outputs, which is one layer below the commands that create dependencies.
  "actors/ledger/dependency/Dependencies.ts writes dependencies of actors/ledger/consumption",
  "actors/ledger/dependency/DependencyRules.ts writes dependencies of actors/ledger/consumption",
  // Removing a Source also removes its snapshots and reports.
  "actors/commands/source/SourceActor.ts writes compatibility_reports of actors/ledger/source",
  "actors/commands/source/SourceActor.ts writes source_snapshots of actors/ledger/source",
  // Ending a Run voids the plan that its execution saved.
  "actors/ledger/run/RunLifecycle.ts writes run_plans of actors/running/execution",
  // Every server that starts increments the installation's incarnation.
  "actors/base/node/Nodes.ts writes installation of src/database"
]

const writes = sourceFiles.flatMap(({ file, folder, text }) =>
  [...text.matchAll(/\b(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+([a-z_]+)\b/g)].flatMap(([, table]) => {
    const owner = ownerOf.get(table ?? "")
    return owner === undefined || owner === folder ? [] : [`${file} writes ${table} of ${owner}`]
  })
)

test("only the folder that owns a table writes to it", () => {
  expect([...new Set(writes)].sort()).toEqual([...exceptions].sort())
})

test("inserts and updates take their values from the model of the table they write", () => {
  const differing = sourceFiles.flatMap(({ file, text }) =>
    [
      ...text.matchAll(
        /\b(?:INSERT(?: OR \w+)? INTO ([a-z_]+) \$\{|UPDATE ([a-z_]+)\s+SET \$\{)(\w+)\.(?:values|several|changes)\(/g
      )
    ].flatMap(([, inserted, updated, constant]) =>
      tableOf.get(constant ?? "") === (inserted ?? updated) ? [] : [`${file}: ${constant} for ${inserted ?? updated}`]
    )
  )
  expect(differing).toEqual([])
})

test("queries for whole rows select every column, and partial rows select only the listed columns", () => {
  const differing = sourceFiles.flatMap(({ file, text }) => [
    ...[...text.matchAll(/\b(\w+)\.rows\(\s*\w+\s*\)`([^`]*)/g)].flatMap(([, constant, statement]) =>
      tableOf.has(constant ?? "") && !/^\s*SELECT (?:\w+\.)?\* FROM|RETURNING \*$/.test(statement ?? "")
        ? [`${file}: ${constant}.rows`]
        : []
    ),
    ...[...text.matchAll(/\.some\(\s*\w+,([^)]*)\)`\s*SELECT (?:DISTINCT )?([\w\s,.]+?)\s+FROM\b/g)].flatMap(
      ([, named, selected]) => {
        const names = [...(named ?? "").matchAll(/"(\w+)"/g)].map((found) => found[1])
        const columns = (selected ?? "").split(",").map((column) => column.trim().split(".").pop())
        return names.sort().join() === columns.sort().join() ? [] : [`${file}: ${columns.join()} for ${names.join()}`]
      }
    )
  ])
  expect(differing).toEqual([])
})

const matching = (pattern: RegExp) => sourceFiles.flatMap(({ file, text }) => (pattern.test(text) ? [file] : []))

test("row types are derived from models, and never written by hand", () => {
  expect(matching(/\b(?:sql|read|write|client)<[^`]*?>`|\.unsafe</)).toEqual([])
  expect(matching(/\bsql\.(?:insert|update)\(/)).toEqual([])
})
