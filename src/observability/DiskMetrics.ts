import { Effect, Layer, Metric, Schedule } from "effect"
import { StorageSpace } from "../database/StorageSpace.ts"

const sampleEvery = "15 seconds"

const free = Metric.gauge("svc_data_disk_free_bytes", {
  description: "Free space on the disk of the data folder, in bytes."
})

/** Samples the disk of the data folder. */
export const diskMetrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const storage = yield* StorageSpace
    const sample = Effect.flatMap(storage.free, (bytes) =>
      bytes === undefined ? Effect.void : Metric.update(free, bytes)
    )
    yield* Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleEvery)))
  })
)
