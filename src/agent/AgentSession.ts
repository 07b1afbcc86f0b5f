import { type Cause, Context, Duration, Effect, Layer, Option, Redacted, Semaphore } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { RpcClient, type RpcClientError, type RpcGroup, RpcSerialization } from "effect/rpc"
import type { AgentFacts, AgentKeys } from "../../schema/agent/AgentIdentity.ts"
import type { HeldRun, HeldRunOrder } from "../../schema/agent/AgentJob.ts"
import { AgentProtocol, helloText } from "../../schema/agent/AgentProtocol.ts"
import type { ProvidedMark } from "../../schema/agent/ProvidedMark.ts"
import type { AgentRefusal } from "../../schema/agent/AgentRefusal.ts"
import { agentRpcPath } from "../../schema/agent/Blob.ts"
import { inlineFilesCapability } from "../../schema/agent/InlineFile.ts"
import { AgentFolder } from "../../runner/agent/AgentFolder.ts"
import { type Signer, signedBy } from "../../runner/agent/AgentKeyPair.ts"
import { AgentParty } from "../../runner/agent/AgentParty.ts"
import { keyChange } from "./KeyChange.ts"
import { machineClocks, type Moment, momentOf } from "../../runner/agent/LeaseClock.ts"

export type AgentCalls = RpcClient.RpcClient<RpcGroup.Rpcs<typeof AgentProtocol>, RpcClientError.RpcClientError>

/** Creates a client for a server's calls that adds the required data to each HTTP request. */
export const agentCalls = (
  server: string,
  authorised: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
) =>
  RpcClient.make(AgentProtocol, { disableTracing: true }).pipe(
    Effect.provide(
      RpcClient.layerProtocolHttp({
        url: `${server}${agentRpcPath}`,
        // Remove the slash that the client appends to the address.
        transformClient: HttpClient.mapRequest((request) =>
          authorised(HttpClientRequest.setUrl(request, `${server}${agentRpcPath}`))
        )
      }).pipe(Layer.provide(RpcSerialization.layerNdjson))
    )
  )

/** Error if there is no response to a message. The message may or may not have arrived. */
export type Unanswered = RpcClientError.RpcClientError | Cause.TimeoutError

const longestAnswer = Duration.seconds(30)

/** Describes this agent at the start of a session, and handles the response. */
export interface SessionSource {
  readonly facts: Effect.Effect<AgentFacts>
  readonly marks: Effect.Effect<ReadonlyArray<ProvidedMark>>
  readonly held: Effect.Effect<ReadonlyArray<HeldRun>>
  readonly obey: (orders: ReadonlyArray<HeldRunOrder>, sent: Moment) => Effect.Effect<void>
}

/**
 * This agent's session with its server.
 *
 * - `calls`: sends messages, each under the session that is current at that moment
 * - `begin`: replaces the session of generation `seen`; concurrent callers share one new session
 * - `generation`: changes with each session
 * - `takesFiles`: true if the server accepts small files within messages
 * - `isDue`: true if a new session is due
 */
export class AgentSession extends Context.Service<
  AgentSession,
  {
    readonly calls: AgentCalls
    readonly authorised: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
    readonly generation: () => number
    readonly takesFiles: () => boolean
    readonly begin: (seen: number, source: SessionSource) => Effect.Effect<void, AgentRefusal | Unanswered>
    readonly renewSeconds: () => number
    readonly isDue: Effect.Effect<boolean>
  }
>()("svc/src/agent/AgentSession") {
  static readonly layer = Layer.effect(
    AgentSession,
    Effect.gen(function* () {
      const { identity } = yield* AgentParty
      const folder = yield* AgentFolder
      const change = yield* keyChange
      let token: Redacted.Redacted<string> | undefined
      let generation = 0
      let renewSeconds = 10
      let takesFiles = false
      let begun: { readonly at: Moment; readonly seconds: number } | undefined
      const authorised = (request: HttpClientRequest.HttpClientRequest) =>
        token === undefined ? request : HttpClientRequest.bearerToken(request, Redacted.value(token))
      const calls = yield* agentCalls(identity.server, authorised)
      const beginning = yield* Semaphore.make(1)
      const { agentId, installationId } = identity

      const hello = Effect.fnUntraced(function* (source: SessionSource) {
        const facts = yield* source.facts
        const providedMarks = yield* source.marks
        const { incarnation } = facts
        let at = momentOf(machineClocks)
        const greet = Effect.fnUntraced(function* (signer: Signer, nextKeys: AgentKeys | undefined) {
          const { nonce } = yield* Effect.timeout(calls.Challenge({ agentId }), longestAnswer)
          const signature = yield* signedBy(
            signer,
            helloText({ agentId, incarnation, nonce, installationId, nextKeys })
          )
          const held = yield* source.held
          at = momentOf(machineClocks)
          const keys = nextKeys === undefined ? {} : { nextKeys }
          const greeting = { agentId, nonce, signature, facts, held, providedMarks, ...keys }
          return yield* Effect.timeout(calls.Hello(greeting), longestAnswer)
        })
        const answer = yield* change.begun(greet, { mayBegin: !facts.draining })
        token = answer.session
        generation += 1
        renewSeconds = answer.renewSeconds
        takesFiles = answer.capabilities.includes(inlineFilesCapability)
        begun = { at, seconds: answer.sessionSeconds }
        yield* source.obey(answer.orders, at)
      })

      return AgentSession.of({
        calls,
        authorised,
        generation: () => generation,
        takesFiles: () => takesFiles,
        begin: (seen, source) =>
          beginning.withPermit(Effect.suspend(() => (generation === seen ? hello(source) : Effect.void))),
        renewSeconds: () => renewSeconds,
        isDue: Effect.gen(function* () {
          const usable = 0.7
          if (begun === undefined || machineClocks.bootSeconds() - begun.at.boot > begun.seconds * usable) return true
          // Begin a new session if somebody has requested new keys, or if the server has not accepted the new keys yet.
          return Option.isSome(yield* Effect.orElseSucceed(folder.nextKeys, () => Option.none()))
        })
      })
    })
  )
}
