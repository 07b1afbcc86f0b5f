import { type Cause, Context, Duration, Effect, Layer, Redacted, Semaphore } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { RpcClient, type RpcClientError, type RpcGroup, RpcSerialization } from "effect/rpc"
import type { AgentFacts } from "../../schema/agent/AgentIdentity.ts"
import type { HeldRun, HeldRunOrder } from "../../schema/agent/AgentJob.ts"
import { AgentProtocol, helloText } from "../../schema/agent/AgentProtocol.ts"
import type { AgentRefusal } from "../../schema/agent/AgentRefusal.ts"
import { agentRpcPath } from "../../schema/agent/Blob.ts"
import { AgentParty } from "../../runner/agent/AgentParty.ts"
import { machineClocks, type Moment, momentOf } from "../../runner/agent/LeaseClock.ts"

export type AgentCalls = RpcClient.RpcClient<RpcGroup.Rpcs<typeof AgentProtocol>, RpcClientError.RpcClientError>

/** Calls of a server, with what each HTTP request has to carry. */
export const agentCalls = (
  server: string,
  authorised: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
) =>
  RpcClient.make(AgentProtocol, { disableTracing: true }).pipe(
    Effect.provide(
      RpcClient.layerProtocolHttp({
        url: `${server}${agentRpcPath}`,
        // The client would add a slash to the address.
        transformClient: HttpClient.mapRequest((request) =>
          authorised(HttpClientRequest.setUrl(request, `${server}${agentRpcPath}`))
        )
      }).pipe(Layer.provide(RpcSerialization.layerNdjson))
    )
  )

/** A message got no answer: it may have arrived or not. */
export type Unanswered = RpcClientError.RpcClientError | Cause.TimeoutError

const longestAnswer = Duration.seconds(30)

/** What this agent says of itself at the beginning of a session, and what it does with the answer. */
export interface SessionSource {
  readonly facts: Effect.Effect<AgentFacts>
  readonly held: Effect.Effect<ReadonlyArray<HeldRun>>
  readonly obey: (orders: ReadonlyArray<HeldRunOrder>, sent: Moment) => Effect.Effect<void>
}

/**
 * The session of this agent at its server.
 *
 * - `calls`: under the session that is current when a message is sent
 * - `begin`: replaces the session that was current in `seen`; one beginning serves all who ask meanwhile
 * - `generation`: changes with each session
 */
export class AgentSession extends Context.Service<
  AgentSession,
  {
    readonly calls: AgentCalls
    readonly authorised: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
    readonly generation: () => number
    readonly begin: (seen: number, source: SessionSource) => Effect.Effect<void, AgentRefusal | Unanswered>
    readonly renewSeconds: () => number
    readonly isOld: () => boolean
  }
>()("svc/agent/AgentSession") {
  static readonly layer = Layer.effect(
    AgentSession,
    Effect.gen(function* () {
      const { identity, keys } = yield* AgentParty
      let token: Redacted.Redacted<string> | undefined
      let generation = 0
      let renewSeconds = 10
      let begun: { readonly at: Moment; readonly seconds: number } | undefined
      const authorised = (request: HttpClientRequest.HttpClientRequest) =>
        token === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
      const calls = yield* agentCalls(identity.server, authorised)
      const beginning = yield* Semaphore.make(1)
      const { agentId, installationId } = identity

      const hello = Effect.fnUntraced(function* (source: SessionSource) {
        const { nonce } = yield* Effect.timeout(calls.Challenge({ agentId }), longestAnswer)
        const facts = yield* source.facts
        const signature = yield* keys.sign(
          helloText({ agentId, incarnation: facts.incarnation, nonce, installationId, nextKeys: undefined })
        )
        const held = yield* source.held
        const at = momentOf(machineClocks)
        const answer = yield* Effect.timeout(calls.Hello({ agentId, nonce, signature, facts, held }), longestAnswer)
        token = answer.session
        generation += 1
        renewSeconds = answer.renewSeconds
        begun = { at, seconds: answer.sessionSeconds }
        yield* source.obey(answer.orders, at)
      })

      return AgentSession.of({
        calls,
        authorised,
        generation: () => generation,
        begin: (seen, source) =>
          beginning.withPermit(Effect.suspend(() => (generation === seen ? hello(source) : Effect.void))),
        renewSeconds: () => renewSeconds,
        isOld: () => {
          const usable = 0.7
          return begun === undefined || machineClocks.bootSeconds() - begun.at.boot > begun.seconds * usable
        }
      })
    })
  )
}
