import { Effect } from "effect"
import { type Figure, median } from "./support/Figures.ts"
import { apply, install, type Product } from "./support/Journey.ts"
import { module, repositoryOf } from "./support/Modules.ts"
import { startProduct } from "./support/Product.ts"

const rounds = 25

/** Duration of one plan and apply, and the part of that time spent in the tool, in milliseconds. */
const mainJob = Effect.fnUntraced(function* (product: Product, url: string, name: string) {
  const planned = yield* install(product, url, name)
  const applied = yield* apply(product, planned.planRunId)
  return { total: planned.planned + applied.millis, tool: planned.tool + applied.tool }
})

/**
 * Compares plan and apply in this build and in another build. Both servers run throughout and take turns, each first in
 * every other pair, so that other load affects both equally.
 */
export const sideBySide = (binary: string, other: string, tool: string) =>
  Effect.gen(function* () {
    const repository = yield* repositoryOf({ "main.tf": module })
    const options = ["--git-allow-origins", repository.origin, "--tool", tool]
    const products = { own: yield* startProduct(options, [binary]), other: yield* startProduct(options, [other]) }
    const turn = (which: keyof typeof products, name: string) => mainJob(products[which], repository.url, name)
    for (const name of ["warm-a", "warm-b"]) {
      yield* turn("own", name)
      yield* turn("other", name)
    }
    const own: Array<number> = []
    const before: Array<number> = []
    const tools: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const first = round % 2 === 0 ? ("own" as const) : ("other" as const)
      const led = yield* turn(first, `round-${round}`)
      const followed = yield* turn(first === "own" ? "other" : "own", `round-${round}`)
      const [ours, theirs] = first === "own" ? [led, followed] : [followed, led]
      own.push(ours.total)
      before.push(theirs.total)
      tools.push(ours.tool / theirs.tool)
    }
    const figure: Figure = {
      name: "plan + apply of this build against the other build",
      figure: median(own.map((millis, round) => millis / (before[round] ?? millis))),
      unit: "x",
      target: { atMost: 1.05 },
      detail: `${median(own).toFixed(0)} ms against ${median(before).toFixed(0)} ms; the tool inside them: ${median(tools).toFixed(2)} x`
    }
    return [figure]
  }).pipe(Effect.scoped)
