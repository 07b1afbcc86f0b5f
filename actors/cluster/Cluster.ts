import { Layer } from "effect"
import { SingleRunner } from "effect/cluster"
import { ReferenceKeys, withSmallContext } from "../ActorLayer.ts"
import { actorReferences } from "./ActorReferences.ts"

/** Where all actors run: in this process, with their messages in its database. */
export const cluster = withSmallContext(
  SingleRunner.layer({
    // Actor ownership needs no leases in the database: only this process holds the data folder, under a lock that is released
    // when the process exits.
    runnerStorage: "memory",
    shardingConfig: {
      simulateRemoteSerialization: false,
      entityMessagePollInterval: "2 seconds",
      // Idle actors leave within seconds, so a limit would only refuse commands. It would also make the cluster read the stored
      // messages each time an actor leaves.
      maxResidentEntities: "unbounded"
    }
  })
).pipe(Layer.provideMerge(Layer.succeed(ReferenceKeys, new Set(actorReferences.map(({ key }) => key)))))
