import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  Entity,
  MessageStorage,
  RunnerHealth,
  RunnerStorage,
  Runners,
  Sharding,
  ShardingConfig,
  SqlMessageStorage
} from "effect/cluster"
import { ActorHost } from "../ActorHost.ts"
import { ReferenceKeys, withSmallContext } from "../ActorLayer.ts"
import { actorReferences } from "./ActorReferences.ts"

/**
 * One process owns every actor, so one shard is enough (decision 0025). The cluster's default is 300: each is acquired, released
 * and named in every look for messages.
 */
const shards = 1

/** The name of the only shard in the stored messages. */
const onlyShard = "default:1"

/** Moves hand-overs that an older release stored in one of its 300 shards: nobody would deliver them. */
const adoptMessages = Layer.effectDiscard(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE cluster_messages SET shard_id = ${onlyShard} WHERE shard_id <> ${onlyShard}`
  )
)

/** Messages in the database. Each is delivered when it is its record's turn. */
const messages = ({ inTurn }: ActorHost["Service"]) =>
  Layer.effect(
    MessageStorage.MessageStorage,
    Effect.map(MessageStorage.MessageStorage, (stored) =>
      MessageStorage.MessageStorage.of({
        ...stored,
        withTransaction: (delivery) =>
          Effect.contextWith((context: Context.Context<never>) => {
            const within = stored.withTransaction(delivery)
            const address = Context.getOrUndefined(context, Entity.CurrentAddress)
            return address === undefined ? within : inTurn(address.entityType, address.entityId)(within)
          })
      })
    )
  ).pipe(Layer.provide(adoptMessages.pipe(Layer.provideMerge(SqlMessageStorage.layer))))

const clusterWith = (host: ActorHost["Service"]) =>
  Sharding.layer.pipe(
    Layer.provideMerge(Runners.layerNoop),
    Layer.provideMerge(messages(host)),
    // Actor ownership needs no leases in the database: only this process holds the data folder, under a lock that is released
    // when the process exits.
    Layer.provide([RunnerStorage.layerMemory, RunnerHealth.layerNoop]),
    Layer.provide(
      ShardingConfig.layerFromEnv({
        shardsPerGroup: shards,
        simulateRemoteSerialization: false,
        entityMessagePollInterval: "2 seconds",
        // Idle actors leave within seconds, so a limit would only delay hand-overs. It would also make the cluster read the stored
        // messages each time an actor leaves.
        maxResidentEntities: "unbounded"
      })
    )
  )

/** Where all actors run: in this process, with stored messages in its database. */
export const cluster = Layer.unwrap(Effect.map(ActorHost, (host) => withSmallContext(clusterWith(host)))).pipe(
  Layer.provideMerge(ActorHost.layer),
  Layer.provideMerge(Layer.succeed(ReferenceKeys, new Set(actorReferences.map(({ key }) => key))))
)
