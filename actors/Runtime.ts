import { Effect, Layer, Schedule } from "effect"
import { CapsuleCommands } from "../schema/commands/CapsuleCommands.ts"
import { ConnectionCommands } from "../schema/commands/ConnectionCommands.ts"
import { InstallPlanCommands } from "../schema/commands/InstallPlanCommands.ts"
import { InterfaceCommands } from "../schema/commands/InterfaceCommands.ts"
import { PullRequestCommands } from "../schema/commands/PullRequestCommands.ts"
import { RevisionPlanCommands } from "../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../schema/commands/RunCommands.ts"
import { SourceCommands } from "../schema/commands/SourceCommands.ts"
import { mailboxesOf } from "./Actor.ts"
import { access } from "./access/AccessLayers.ts"
import { base } from "./base/BaseLayers.ts"
import { DueWork } from "./base/DueWork.ts"
import { ExclusiveWork } from "./base/node/ExclusiveWork.ts"
import { Nodes } from "./base/node/Nodes.ts"
import { commands } from "./commands/CommandLayers.ts"
import { inputs } from "./inputs/InputLayers.ts"
import { ledger } from "./ledger/LedgerLayers.ts"
import { cleanUpSnapshots } from "./ledger/source/SnapshotCleanup.ts"
import { StaleReasons } from "./ledger/staleness/StaleReasons.ts"
import { OrphanedStates } from "./ledger/state/OrphanedStates.ts"
import { readWholeBacklog } from "./ledger/state/StateBacklog.ts"
import { running } from "./running/RunningLayers.ts"
import { workForAgents } from "./running/agent/AgentLayers.ts"
import { RunExecutor } from "./running/execution/RunExecutor.ts"
import { RunRecovery } from "./running/execution/RunRecovery.ts"
import { RunGroups } from "./running/run-group/RunGroups.ts"
import { upkeep } from "./upkeep/UpkeepLayers.ts"

/**
 * The clients of all actors. The clients require no services, so lower-level modules can send commands to higher-level
 * modules.
 */
const mailboxes = Layer.mergeAll(
  mailboxesOf(CapsuleCommands),
  mailboxesOf(ConnectionCommands),
  mailboxesOf(InstallPlanCommands),
  mailboxesOf(InterfaceCommands),
  mailboxesOf(PullRequestCommands),
  mailboxesOf(RevisionPlanCommands),
  mailboxesOf(RunCommands),
  mailboxesOf(SourceCommands)
)

/** Settles the Runs that a previous process left unfinished before taking Runs from the queue. */
const work = Layer.effectDiscard(
  Effect.gen(function* () {
    const recovery = yield* RunRecovery
    const executor = yield* RunExecutor
    const groups = yield* RunGroups
    const exclusive = yield* ExclusiveWork
    yield* Effect.forkScoped((yield* Nodes).work)
    yield* recovery.recover
    yield* Effect.forkScoped(recovery.follow)
    yield* (yield* OrphanedStates).takeOver
    yield* (yield* StaleReasons).compareUnread
    yield* workForAgents
    yield* Effect.forkScoped(executor.work)
    yield* Effect.forkScoped(executor.followCancels)
    yield* Effect.forkScoped(exclusive.during("run-groups")(groups.follow))
    yield* Effect.forkScoped((yield* DueWork).follow)
    yield* Effect.forkScoped(exclusive.during("state-backlog")(readWholeBacklog))
    // Removes archives that have no record, but only once they are a day old, because the record of a newer archive may not
    // have been written yet.
    yield* Effect.forkScoped(Effect.repeat(cleanUpSnapshots, Schedule.spaced("1 day")))
    yield* Effect.addFinalizer(() => executor.drain)
  })
)

/**
 * All actors and their clients, in one process on the embedded database. Requires the database, the vault, audit and cursors, the
 * runner's services and `RunSettings`.
 */
export const layer = work.pipe(
  Layer.provideMerge(upkeep),
  Layer.provideMerge(commands),
  Layer.provideMerge(running),
  Layer.provideMerge(inputs),
  Layer.provideMerge(access),
  Layer.provideMerge(ledger),
  Layer.provideMerge(base),
  Layer.provideMerge(mailboxes)
)
