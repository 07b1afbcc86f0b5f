import { DatabaseSync } from "node:sqlite"
import { Clock, Effect, Redacted, Schedule } from "effect"
import { type Figure, median } from "./support/Figures.ts"
import { loadClient } from "./support/Load.ts"
import { module, repositoryOf } from "./support/Modules.ts"
import { startProduct } from "./support/Product.ts"

const sizes = [10, 1000, 10_000] as const
const rounds = 3
const shape = { connections: 8, requests: 600 }
// The total of these changes is below the limit on changes per person per minute.
const commands = 40

type Columns = Readonly<Record<string, string | number | null>>

/** Encodes a number as six letters, because these ids contain no digits. */
const letters = (index: number): string =>
  [5, 4, 3, 2, 1, 0].map((place) => String.fromCharCode(97 + (Math.floor(index / 26 ** place) % 26))).join("")

/** Copies rows under new names, which has the same effect as that many installs. */
const multiply = (database: DatabaseSync, id: string, from: number, to: number) => {
  const row: Columns = { ...(database.prepare("SELECT * FROM capsules WHERE id = ?").get(id) as Columns) }
  const names = Object.keys(row)
  const insert = database.prepare(
    `INSERT INTO capsules (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`
  )
  database.exec("BEGIN IMMEDIATE")
  for (let index = from; index < to; index++) {
    const suffix = letters(index)
    const copy: Columns = {
      ...row,
      id: `cap_${suffix.padStart(24, "a")}`,
      name: `copy-${suffix}`,
      slug: `copy-${suffix}`
    }
    insert.run(...names.map((name) => copy[name] ?? null))
  }
  database.exec("COMMIT")
}

/**
 * Measures the same reads and commands with 10, 1,000 and 10,000 Capsules in one Workspace, and compares the slowest size with
 * the fastest.
 */
export const growth = (binary: string) =>
  Effect.gen(function* () {
    const repository = yield* repositoryOf({ "main.tf": module })
    const product = yield* startProduct(["--git-allow-origins", repository.origin], [binary])
    const { installPlan } = yield* product.client.installPlans.create({
      params: { workspaceId: product.workspaceId },
      headers: { "idempotency-key": "growth" },
      payload: {
        source: { name: "one", url: repository.url },
        capsule: { name: "one", environment: "bench" },
        variables: {}
      }
    })
    const planned = yield* Effect.repeat(
      product.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
      {
        until: ({ installPlan: { phase } }) => phase === "reviewable" || phase === "failed",
        schedule: Schedule.spaced("50 millis")
      }
    )
    const capsuleId = planned.installPlan.capsuleId ?? ""
    const database = yield* Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(`${product.dataDir}/svc.sqlite`, { timeout: 5000 })),
      (open) => Effect.sync(() => open.close())
    )
    const { send } = yield* loadClient([product.pid])
    const authorization = `authorization: Bearer ${Redacted.value(product.token)}\r\n`
    const get = (path: string) =>
      Effect.map(
        send({
          ...shape,
          port: product.port,
          request: `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${authorization}\r\n`
        }),
        ({ perSecond }) => perSecond
      )
    const rename = Effect.gen(function* () {
      const started = yield* Clock.currentTimeNanos
      for (let index = 0; index < commands; index++)
        yield* product.client.capsules.update({ params: { capsuleId }, payload: { name: `one-${index}` } })
      return commands / (Number((yield* Clock.currentTimeNanos) - started) / 1e9)
    })
    const measures = [
      ["read of a Capsule", get(`/api/v1/capsules/${capsuleId}`)],
      // Reads only rows that every Workspace size has, because a page that lists more Capsules is slower even if the
      // Workspace is no larger.
      ["list of 10 Capsules", get(`/api/v1/workspaces/${product.workspaceId}/capsules?limit=10`)],
      ["list of 20 Runs", get(`/api/v1/workspaces/${product.workspaceId}/runs?limit=20`)],
      ["command on a Capsule", rename]
    ] as const
    const rates = new Map<string, Array<number>>(measures.map(([name]) => [name, []]))
    let present = 1
    for (const size of sizes) {
      multiply(database, capsuleId, present, size)
      present = size
      for (const [name, measure] of measures) {
        yield* measure
        const round: Array<number> = []
        for (let count = 0; count < rounds; count++) round.push(yield* measure)
        rates.get(name)?.push(median(round))
      }
    }
    return measures.map(([name]): Figure => {
      const found = rates.get(name) ?? []
      const [few = Number.NaN] = found
      return {
        name: `${name}: slowest of 1,000 and 10,000 against 10`,
        figure: few / Math.min(...found.slice(1)),
        unit: "x",
        target: { atMost: 1.5 },
        detail: sizes.map((size, index) => `${size}: ${(found[index] ?? 0).toFixed(0)}/s`).join(", ")
      }
    })
  }).pipe(Effect.scoped)
