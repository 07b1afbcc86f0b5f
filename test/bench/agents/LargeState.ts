import { readFileSync, writeFileSync } from "node:fs"
import { Effect } from "effect"
import type { Figure } from "../support/Figures.ts"
import { apply, install } from "../support/Journey.ts"
import { farProduct } from "./FarProduct.ts"

const mebibyte = 1024 * 1024

/** 50 MB of text that compresses poorly. The provider stores the input twice. */
const module = `
variable "name" {
  type    = string
  default = "large"
}
resource "terraform_data" "large" {
  count = 5
  input = join("", [for i in range(82) : join("", [for j in range(1000) : sha256("\${var.name} \${count.index} \${i} \${j}")])])
}
`
const stateBytes = 5 * 2 * 82_000 * 64
/** The same text, stored once. The plan file is half as large, because the tool compresses two digits into a byte. */
const planBytes = stateBytes / 2

const residentOf = (pid: number, which: "VmRSS" | "VmHWM") =>
  Number(new RegExp(`${which}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024

/** Resets the peak memory measurement. */
const forgetHighest = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, "5")

/** Measures the server's peak memory while a large plan and state arrive from an agent, compared with its baseline. */
export const largeState = Effect.fn("largeState")(function* (binary: string, tool: string) {
  const product = yield* farProduct(binary, tool, { "main.tf": module })
  const measured = (bytes: number) => {
    const before = residentOf(product.pid, "VmRSS")
    forgetHighest(product.pid)
    return () => {
      const grown = residentOf(product.pid, "VmHWM") - before
      return { times: (grown * mebibyte) / bytes, grown }
    }
  }
  const duringPlan = measured(planBytes)
  const planned = yield* install(product, product.far, "large")
  const plan = duringPlan()
  const duringApply = measured(stateBytes)
  const applied = yield* apply(product, planned.planRunId)
  const state = duringApply()
  const shown = (what: string, bytes: number, grown: number) =>
    `${what} of ${(bytes / mebibyte).toFixed(0)} MiB, ${grown.toFixed(0)} MiB more at most`
  const figures: ReadonlyArray<Figure> = [
    {
      name: "server memory for a large plan of an agent against its size",
      figure: plan.times,
      unit: "x",
      target: { atMost: 5 },
      detail: shown("a plan", planBytes, plan.grown)
    },
    {
      name: "server memory for a large state of an agent against its size",
      figure: state.times,
      unit: "x",
      target: { atMost: 5 },
      detail: `${shown("a state", stateBytes, state.grown)}; the apply took ${(applied.millis / 1000).toFixed(1)} s`
    }
  ]
  return figures
}, Effect.scoped)
