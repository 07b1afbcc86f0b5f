import { Context, Deferred, Effect, Layer, References, Semaphore, Tracer } from "effect"
import type { Entity } from "effect/cluster"
import type { Rpc } from "effect/rpc"
import { ApiError } from "../schema/errors/ApiError.ts"
import { Readmission } from "./Readmission.ts"

/** Messages that one record holds. Beyond that, a command is refused with a retryable 429, and a hand-over stays stored. */
export const mostMessages = 512

/** A message of this name. */
export type Named<Rpcs extends Rpc.Any, Name extends string> = Extract<Rpcs, { readonly _tag: Name }>

/** What an actor does with each message. A handler that needs a service is refused: it would be missing when it runs. */
export type Handlers<Rpcs extends Rpc.Any> = {
  readonly [Name in Rpcs["_tag"]]: (message: {
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

const behaviorKey = <Type extends string, Rpcs extends Rpc.Any>(actor: Entity.Entity<Type, Rpcs>) =>
  Context.Service<BehaviorOf<Type>, Behavior<Rpcs>>(`svc/actors/behavior/${actor.type}`)

/** What happens before and after a message, in the turn of its record and outside of its transaction. */
type Surroundings = (id: string) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Turns {
  readonly semaphore: Semaphore.Semaphore
  /** Messages that have the turn or are waiting for it. */
  messages: number
}

const tooMany = new ApiError({
  code: "rate_limited",
  message: "Too many commands are waiting for this record. Try again shortly.",
  retryAfter: 1
})

/**
 * The actors of this process (design, section 3). All messages to one record take turns, however they arrive: a command runs
 * in its caller's fiber, and a stored hand-over runs in the cluster.
 *
 * - `serve`: from now on commands to these actors are executed
 * - `command`: executes a command when it is the record's turn. Waits for `serve`
 * - `inTurn`: executes a stored message when it is the record's turn. The turn comes before the transaction: with the opposite
 *   order, a command with the turn and a message with the only writing connection would wait for each other
 * - `surround`: from now on every message to these actors is executed within `around`: for what takes too long to happen in the
 *   message's transaction
 */
export class ActorHost extends Context.Service<
  ActorHost,
  {
    readonly serve: <Type extends string, Rpcs extends Rpc.Any>(
      actor: Entity.Entity<Type, Rpcs>,
      behavior: Behavior<Rpcs>
    ) => Effect.Effect<void>
    readonly command: <Type extends string, Rpcs extends Rpc.Any, A, E>(
      actor: Entity.Entity<Type, Rpcs>,
      id: string,
      name: string,
      execute: (handlers: Handlers<Rpcs>) => Effect.Effect<A, E>
    ) => Effect.Effect<A, E | ApiError>
    readonly surround: (actorType: string, around: Surroundings) => Effect.Effect<void>
    readonly inTurn: (
      actorType: string,
      id: string
    ) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  }
>()("svc/actors/ActorHost") {
  static readonly layer = Layer.sync(ActorHost, () => {
    let behaviors = Context.empty()
    const served = new Map<string, Deferred.Deferred<void>>()
    const waiting = new Map<string, Turns>()
    const surroundings = new Map<string, Surroundings>()

    const servedOf = (type: string) => {
      const known = served.get(type) ?? Deferred.makeUnsafe<void>()
      served.set(type, known)
      return known
    }

    const keyOf = (actorType: string, id: string) => `${actorType} ${id}`

    const inTurn =
      (actorType: string, id: string) =>
      <A, E, R>(work: Effect.Effect<A, E, R>) =>
        Effect.uninterruptibleMask((restore) => {
          const key = keyOf(actorType, id)
          const turns = waiting.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), messages: 0 }
          if (turns.messages === 0) waiting.set(key, turns)
          turns.messages += 1
          const whole = Effect.suspend(() => surroundings.get(actorType)?.(id)(work) ?? work)
          return Effect.onExit(restore(turns.semaphore.withPermit(whole)), () => {
            turns.messages -= 1
            if (turns.messages === 0) waiting.delete(key)
            return Effect.void
          })
        })

    const command = <Type extends string, Rpcs extends Rpc.Any, A, E>(
      actor: Entity.Entity<Type, Rpcs>,
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
        if ((waiting.get(keyOf(actor.type, id))?.messages ?? 0) >= mostMessages) return Effect.fail(tooMany)
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
          inTurn(actor.type, id)
        )
      })

    return ActorHost.of({
      serve: (actor, behavior) =>
        Effect.suspend(() => {
          behaviors = Context.add(behaviors, behaviorKey(actor), behavior)
          return Effect.asVoid(Deferred.succeed(servedOf(actor.type), undefined))
        }),
      surround: (actorType, around) => Effect.sync(() => void surroundings.set(actorType, around)),
      command,
      inTurn
    })
  })
}
