import { Context, Deferred, Effect, Layer, References, Semaphore, Tracer } from "effect"
import type { Rpc } from "effect/rpc"
import { ApiError } from "../schema/errors/ApiError.ts"
import type { Commands, Named } from "../schema/commands/Command.ts"
import type { IdKind } from "./base/Identity.ts"
import { Readmission } from "./base/Readmission.ts"

/** Commands that one record holds. Beyond that, a command is refused with a retryable 429. */
export const mostCommands = 512

/** What an actor does with each command. A handler that needs a service is refused: it would be missing when it runs. */
export type Handlers<Rpcs extends Rpc.Any> = {
  readonly [Name in Rpcs["_tag"]]: (command: {
    readonly payload: Rpc.Payload<Named<Rpcs, Name>>
  }) => Effect.Effect<Rpc.Success<Named<Rpcs, Name>>, Rpc.Error<Named<Rpcs, Name>>>
}

/**
 * How the actors of one kind behave. Handlers run in `context`, which is that of the actors and not of the caller, except for the
 * caller's span and admission.
 */
interface Behavior<Rpcs extends Rpc.Any> {
  readonly handlersOf: (id: string) => Handlers<Rpcs>
  readonly context: Context.Context<never>
}

interface BehaviorOf<Type extends string> {
  readonly _: unique symbol
  readonly type: Type
}

const behaviorKey = <Type extends string, Rpcs extends Rpc.Any>(actor: Commands<Type, Rpcs>) =>
  Context.Service<BehaviorOf<Type>, Behavior<Rpcs>>(`svc/actors/behavior/${actor.type}`)

interface Turns {
  readonly semaphore: Semaphore.Semaphore
  /** Commands that have the turn or are waiting for it. */
  commands: number
}

const tooMany = new ApiError({
  code: "rate_limited",
  message: "Too many commands are waiting for this record. Try again shortly.",
  retryAfter: 1
})

/**
 * The actors of this process (design, section 3): all commands to one record take turns.
 *
 * - `serve`: from now on commands to these actors are executed
 * - `command`: executes a command in the caller's fiber when it is the record's turn. Waits for `serve`
 */
export class ActorHost extends Context.Service<
  ActorHost,
  {
    readonly serve: <Type extends string, Rpcs extends Rpc.Any>(
      actor: Commands<Type, Rpcs>,
      behavior: Behavior<Rpcs>
    ) => Effect.Effect<void>
    readonly command: <Type extends string, Rpcs extends Rpc.Any, A, E>(
      actor: Commands<Type, Rpcs>,
      id: string,
      name: string,
      execute: (handlers: Handlers<Rpcs>) => Effect.Effect<A, E>
    ) => Effect.Effect<A, E | ApiError>
  }
>()("svc/actors/ActorHost") {
  static readonly layer = Layer.sync(ActorHost, () => {
    let behaviors = Context.empty()
    const served = new Map<string, Deferred.Deferred<void>>()
    const waiting = new Map<string, Turns>()

    const servedOf = (type: string) => {
      const known = served.get(type) ?? Deferred.makeUnsafe<void>()
      served.set(type, known)
      return known
    }

    const inTurn =
      (key: string) =>
      <A, E, R>(work: Effect.Effect<A, E, R>) =>
        Effect.uninterruptibleMask((restore) => {
          const turns = waiting.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), commands: 0 }
          if (turns.commands === 0) waiting.set(key, turns)
          turns.commands += 1
          return Effect.onExit(restore(turns.semaphore.withPermit(work)), () => {
            turns.commands -= 1
            if (turns.commands === 0) waiting.delete(key)
            return Effect.void
          })
        })

    const command = <Type extends string, Rpcs extends Rpc.Any, A, E>(
      actor: Commands<Type, Rpcs>,
      id: string,
      name: string,
      execute: (handlers: Handlers<Rpcs>) => Effect.Effect<A, E>
    ): Effect.Effect<A, E | ApiError> =>
      Effect.suspend(() => {
        const behavior = Context.getOrUndefined(behaviors, behaviorKey(actor))
        if (behavior === undefined) {
          return Effect.andThen(
            Deferred.await(servedOf(actor.type)),
            Effect.suspend(() => command(actor, id, name, execute))
          )
        }
        const key = `${actor.type} ${id}`
        if ((waiting.get(key)?.commands ?? 0) >= mostCommands) return Effect.fail(tooMany)
        const spanned = Effect.withSpan(
          `${actor.type}.${name}`,
          { attributes: { "entity.id": id } },
          { captureStackTrace: false }
        )
        const within = (caller: Context.Context<never>) => {
          const span = Context.getOrUndefined(caller, Tracer.ParentSpan)
          const readmission = Context.get(caller, Readmission)
          const admitted =
            readmission === undefined ? behavior.context : Context.add(behavior.context, Readmission, readmission)
          return span === undefined ? admitted : Context.add(admitted, Tracer.ParentSpan, span)
        }
        const execution = Effect.suspend(() => execute(behavior.handlersOf(id)))
        return Effect.flatMap(References.TracerEnabled, (isTraced) => (isTraced ? spanned(execution) : execution)).pipe(
          Effect.updateContext(within),
          inTurn(key)
        )
      })

    return ActorHost.of({
      serve: (actor, behavior) =>
        Effect.suspend(() => {
          behaviors = Context.add(behaviors, behaviorKey(actor), behavior)
          return Effect.asVoid(Deferred.succeed(servedOf(actor.type), undefined))
        }),
      command
    })
  })
}

/**
 * How commands reach these actors: `send(id, "Update", payload)`. A command runs in the caller's fiber when it is the record's
 * turn; if the caller is interrupted, so is the command. If too many are waiting, it is refused with a retryable 429.
 */
export const commandsTo = <Type extends string, Rpcs extends Rpc.Any>(actor: Commands<Type, Rpcs>) =>
  Effect.map(ActorHost, ({ command }) => {
    return <Name extends Rpcs["_tag"]>(id: string, name: Name, payload: Rpc.Payload<Named<Rpcs, Name>>) =>
      command(actor, id, name, (handlers) => handlers[name]({ payload }))
  })

/** Gives the handlers of an actor their types. */
export const handle = <Type extends string, Rpcs extends Rpc.Any>(
  _actor: Commands<Type, Rpcs>,
  handlers: Handlers<Rpcs>
): Handlers<Rpcs> => handlers

/**
 * The layer of an actor, one for each id of this kind. Its services are acquired once; its handlers are built for each command, hold
 * no state and need no service from the context.
 */
export const actorLayer = <Type extends string, Rpcs extends Rpc.Any, Each extends Handlers<Rpcs>, Id, E, R>(
  actor: Commands<Type, Rpcs>,
  ids: IdKind<Id>,
  behavior: Effect.Effect<(id: Id) => Each, E, R>
) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const host = yield* ActorHost
      const build = yield* behavior
      const context = yield* Effect.context<never>()
      yield* host.serve(actor, { handlersOf: (id) => build(ids.make(id)), context })
    })
  )
