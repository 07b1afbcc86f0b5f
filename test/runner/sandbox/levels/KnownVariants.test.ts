import { expect } from "bun:test"
import { Effect } from "effect"
import { KnownVariants } from "../../../../runner/sandbox/levels/KnownVariants.ts"
import { it } from "../../../support/Effect.ts"

it.live("a service without a cache of results runs every check of a level again", () =>
  Effect.gen(function* () {
    const answers: Array<string | undefined> = [undefined, "the kernel forbids it"]
    const { refusalOf } = KnownVariants.defaultValue()
    const ask = refusalOf(
      "bwrap --unshare-all true",
      Effect.sync(() => answers.shift())
    )
    expect([yield* ask, yield* ask]).toEqual([undefined, "the kernel forbids it"])
  })
)
