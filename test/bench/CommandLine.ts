import { Effect, FileSystem, Redacted } from "effect"
import { fileURLToPath } from "node:url"
import { cliPackage } from "../../scripts/packages/CliPackage.ts"
import { type Figure, median } from "./support/Figures.ts"
import { startProduct } from "./support/Product.ts"

const rounds = 9
const root = fileURLToPath(new URL("../../", import.meta.url))

/** Runs a program that must succeed, and returns the CPU time of all its threads in milliseconds. */
const used = (command: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.promise(async () => {
    const child = Bun.spawn([...command], { env, stdout: "ignore", stderr: "inherit" })
    const code = await child.exited
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}`)
    return Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1000
  })

/** Measures the cost of a client's shortest command, in the binary and in the npm package. */
export const commandLine = (binary: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const home = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-cli-" })
    yield* cliPackage(root, `${home}/cli`)
    const { token, url } = yield* startProduct([], [binary])
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, SVC_URL: url, SVC_TOKEN: Redacted.value(token) }
    const programs = {
      "svc whoami, the binary": { command: [binary, "whoami"], empty: [binary, "--version"] },
      "svc whoami, the package on Node": {
        command: ["node", `${home}/cli/svc.mjs`, "whoami"],
        empty: ["node", "--eval", "0"]
      }
    }
    const figures: Array<Figure> = []
    for (const [name, { command, empty }] of Object.entries(programs)) {
      const times: Array<number> = []
      const least: Array<number> = []
      for (let round = 0; round < rounds; round++) {
        times.push(yield* used(command, env))
        least.push(yield* used(empty, env))
      }
      const figure = median(times)
      figures.push({
        name: `${name}: processor time`,
        figure,
        unit: "ms",
        target: { atMost: 400 },
        detail: `${(figure / median(least)).toFixed(1)} x of \`${empty.slice(0, 2).join(" ").replace(binary, "svc")}\``
      })
    }
    return figures
  }).pipe(Effect.scoped)
