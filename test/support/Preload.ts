import { setDefaultTimeout } from "bun:test"
import { configureGlobal } from "fast-check"

setDefaultTimeout(120_000)

// A change is judged by the same examples every time, so that red means the change. Fresh ones are searched for with
// `SVC_TEST_SEED=random`, and a failure is seen again with the seed that it printed.
const seed = process.env["SVC_TEST_SEED"] ?? "20261121"
configureGlobal(seed === "random" ? {} : { seed: Number(seed) })
