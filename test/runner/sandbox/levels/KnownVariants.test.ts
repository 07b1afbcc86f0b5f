import { expect } from "bun:test"
import { Effect } from "effect"
import { KnownVariants } from "../../../../runner/sandbox/levels/KnownVariants.ts"
import { it } from "../../../support/Effect.ts"

it.live("a service without a result cache repeats every check of an isolation level", () =>
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
