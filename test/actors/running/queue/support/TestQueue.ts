import { Layer } from "effect"
import { QueueRows } from "../../../../../actors/running/queue/QueueRows.ts"
import { RunQueue } from "../../../../../actors/running/queue/RunQueue.ts"
import { RunCancels } from "../../../../../actors/ledger/run/RunCancels.ts"
import { RunJournal } from "../../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../../actors/ledger/run/RunLifecycle.ts"
import { defaultRunSettings, RunSettings } from "../../../../../actors/ledger/run/RunSettings.ts"
import { noAgents } from "../../../support/NoAgents.ts"

/** Provides a queue with these limits in the test's database. No agent is connected, and nothing executes the Runs. */
export const testQueue = (limits: Partial<typeof defaultRunSettings>) =>
  RunQueue.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(RunLedger.layer, RunCancels.layer, noAgents)),
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(Layer.mergeAll(QueueRows.layer, RunJournal.layer)),
    Layer.provide(Layer.succeed(RunSettings, { ...defaultRunSettings, runsFolder: "/nowhere", ...limits }))
  )
