import { Layer } from "effect"
import { QueueRows } from "../../../../actors/queue/QueueRows.ts"
import { RunQueue } from "../../../../actors/queue/RunQueue.ts"
import { RunCancels } from "../../../../actors/run/RunCancels.ts"
import { RunJournal } from "../../../../actors/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/run/RunLifecycle.ts"
import { defaultRunSettings, RunSettings } from "../../../../actors/run/RunSettings.ts"
import { noAgents } from "../../support/NoAgents.ts"

/** A queue with these limits, over the test's database; no agent is connected and nothing executes. */
export const testQueue = (limits: Partial<typeof defaultRunSettings>) =>
  RunQueue.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(RunLedger.layer, RunCancels.layer, noAgents)),
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(Layer.mergeAll(QueueRows.layer, RunJournal.layer)),
    Layer.provide(Layer.succeed(RunSettings, { ...defaultRunSettings, runsFolder: "/nowhere", ...limits }))
  )
