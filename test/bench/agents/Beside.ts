import { Effect } from "effect"
import { type Figure, median, percentile } from "../support/Figures.ts"
import { apply, install, type RunParts } from "../support/Journey.ts"
import { module } from "../support/Modules.ts"
import { type FarProduct, farProduct, promptly } from "./FarProduct.ts"

/** Number of warm-up rounds, after which both processes have compiled their code. */
const warmUps = 5
const pairs = 41

interface Round {
  readonly total: number
  readonly tool: number
  readonly parts: Readonly<Record<"plan" | "apply", RunParts>>
}

/** Duration of one plan and apply, and the part of that time spent in the tool, in milliseconds. */
const round = Effect.fnUntraced(function* (product: FarProduct, url: string, name: string) {
  const planned = yield* install(product, url, name)
  const applied = yield* apply(product, planned.planRunId)
  const measured: Round = {
    total: planned.planned + applied.millis,
    tool: planned.tool + applied.tool,
    parts: { plan: planned.parts, apply: applied.parts }
  }
  return measured
})

const shown = {
  before: "queued until its tool starts",
  tool: "with the tool",
  after: "from its tool's last word to its end"
} as const

/** Duration of each part of a Run, in both pools. */
const partsOf = (near: ReadonlyArray<Round>, far: ReadonlyArray<Round>): ReadonlyArray<Figure> =>
  (["plan", "apply"] as const).flatMap((kind) =>
    (["before", "tool", "after"] as const).map((part) => {
      const medianOf = (rounds: ReadonlyArray<Round>) => median(rounds.map(({ parts }) => parts[kind][part]))
      return {
        name: `${kind} through an agent: ${shown[part]}`,
        figure: medianOf(far),
        unit: "ms" as const,
        detail: `${medianOf(near).toFixed(0)} ms in the pool local`
      }
    })
  )

/**
 * Compares an agent on its server's machine with the server itself. The two take turns, each going first in every other
 * pair.
 */
export const beside = Effect.fn("beside")(function* (binary: string, tool: string) {
  const product = yield* farProduct(binary, tool, { "main.tf": module }, { isDirect: true })
  const priority = yield* promptly(product)
  const turn = (where: "near" | "far", name: string) => round(product, product[where], `${where}-${name}`)
  for (let warm = 0; warm < warmUps; warm++) {
    yield* turn("near", `warm-${warm}`)
    yield* turn("far", `warm-${warm}`)
  }
  const [near, far]: [Array<Round>, Array<Round>] = [[], []]
  for (let pair = 0; pair < pairs; pair++) {
    for (const where of pair % 2 === 0 ? (["near", "far"] as const) : (["far", "near"] as const)) {
      const measured = yield* turn(where, `${pair}`)
      if (where === "near") near.push(measured)
      else far.push(measured)
    }
  }
  const ratiosOf = (of: (measured: Round) => number) =>
    near.flatMap((here, pair) => {
      const there = far[pair]
      return there === undefined ? [] : [of(there) / of(here)]
    })
  const ratios = ratiosOf(({ total }) => total)
  const totalOf = (rounds: ReadonlyArray<Round>) => median(rounds.map(({ total }) => total)).toFixed(0)
  const range = [0.25, 0.75].map((share) => percentile(ratios, share).toFixed(2)).join(" to ")
  const tools = median(ratiosOf((measured) => measured.tool)).toFixed(2)
  const figures: ReadonlyArray<Figure> = [
    {
      name: "plan + apply through an agent against the pool local",
      figure: median(ratios),
      unit: "x",
      target: { atMost: 1.15 },
      detail: `${totalOf(far)} ms against ${totalOf(near)} ms; half of ${pairs} pairs ${range} x; from the tool's start to the end ${tools} x; ${priority}`
    },
    ...partsOf(near, far)
  ]
  return figures
}, Effect.scoped)
