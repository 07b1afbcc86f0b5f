import { Context, Effect, FileSystem, Layer, Path, Scope, Stdio, Terminal } from "effect"
import { Entity, MessageStorage, Runners, Sharding } from "effect/cluster"
import { Aead, Cipher, Digest, Kdf, KeyAgreement, KeyWrap, Mac, SecureRandom, Signature } from "effect/crypto"
import { HttpClient } from "effect/http"
import { ChildProcessSpawner } from "effect/process"
import type { Rpc } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { ActorHost, type Handlers, mostMessages } from "./ActorHost.ts"
import type { IdKind } from "./Identity.ts"
import { keptHandlers } from "./KeptHandlers.ts"

/**
 * How the cluster runs an actor for its stored messages: a defect goes to the log, and the actor survives (design, section 3). An
 * idle one takes about 30 KB of memory and leaves after five to ten seconds, since the cluster looks for them every five seconds.
 */
const actorOptions = { disableFatalDefects: true, maxIdleTime: "5 seconds", mailboxCapacity: mostMessages } as const

/** The keys of all references that actors read. Where nothing provides them, actors get the whole context. */
export const ReferenceKeys = Context.Reference<ReadonlySet<string> | undefined>("svc/actors/ReferenceKeys", {
  defaultValue: () => undefined
})

const withoutServices = <R>(context: Context.Context<R>) => {
  const references = Context.get(context, ReferenceKeys)
  if (references === undefined) return context
  const kept = Array.from(context.mapUnsafe).filter(([key]) => !key.startsWith("svc/") || references.has(key))
  return Context.makeUnsafe<R>(new Map(kept))
}

/** Handlers need no service, and each transaction copies their context several times. */
const withoutPlatform = Context.omit(
  Aead.Aead,
  ChildProcessSpawner.ChildProcessSpawner,
  Cipher.Cipher,
  Digest.Digest,
  FileSystem.FileSystem,
  HttpClient.HttpClient,
  Kdf.Kdf,
  KeyAgreement.KeyAgreement,
  KeyWrap.KeyWrap,
  Mac.Mac,
  MessageStorage.MessageStorage,
  Path.Path,
  Runners.Runners,
  Scope.Scope,
  SecureRandom.SecureRandom,
  Sharding.Sharding,
  Signature.Signature,
  SqlClient.SqlClient,
  Stdio.Stdio,
  Terminal.Terminal
)

/**
 * Builds a layer in a context without the services of this program. The cluster copies its context several times for each actor
 * that it activates and once for each message, so it gets a small one. The layer must not need any of these services.
 */
export const withSmallContext = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.effectContext(
    Effect.updateContext(Layer.build(layer), (context: Context.Context<R | Scope.Scope>) => withoutServices(context))
  )

/** Gives the handlers of an actor their types. */
export const handle = <Type extends string, Rpcs extends Rpc.Any>(
  _actor: Entity.Entity<Type, Rpcs>,
  handlers: Handlers<Rpcs>
): Handlers<Rpcs> => handlers

/**
 * The layer of an actor, one for each id of this kind: commands reach it in this process, stored hand-overs through the cluster.
 * Its services are acquired once; its handlers are then built for each record, hold no state and need no service from the context.
 */
export const actorLayer = <
  Type extends string,
  Rpcs extends Rpc.Any,
  Each extends Handlers<Rpcs> & Entity.HandlersFrom<Rpcs>,
  Id,
  E,
  R
>(
  actor: Entity.Entity<Type, Rpcs>,
  ids: IdKind<Id>,
  behavior: Effect.Effect<(id: Id) => Each, E, R>
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const host = yield* ActorHost
      const build = yield* behavior
      const handlersOf = keptHandlers((id) => build(ids.make(id)))
      const commands = Layer.effectDiscard(
        Effect.flatMap(Effect.context<never>(), (context) =>
          host.serve(actor, { handlersOf, context: withoutPlatform(context) })
        )
      )
      const handOvers = actor.toLayer(
        Effect.map(Entity.CurrentAddress, ({ entityId }) => handlersOf(entityId)),
        actorOptions
      )
      return withSmallContext(Layer.merge(commands, handOvers))
    })
  )
