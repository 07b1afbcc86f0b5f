import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema, Stream } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientRequest,
  HttpEffect,
  HttpRouter,
  HttpServer,
  HttpServerResponse
} from "effect/http"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { heldContents, packContents, sealedFor, serverParty } from "../../../../runner/agent/BlobContents.ts"
import { JobResult } from "../../../../runner/agent/JobResult.ts"
import { openBlob, sealBlob } from "../../../../runner/agent/SealedBlob.ts"
import { openSealed } from "../../../../runner/agent/SealedMessage.ts"
import { ApplyJob, PlanJob } from "../../../../runner/execution/RunJob.ts"
import { UnfinishedApply } from "../../../../runner/execution/RunOutcome.ts"
import { type AgentFacts, type AgentKeys, agentProtocol } from "../../../../schema/agent/AgentIdentity.ts"
import type { HeldRun, JobOffer, RunClaim } from "../../../../schema/agent/AgentJob.ts"
import { AgentProtocol, helloText } from "../../../../schema/agent/AgentProtocol.ts"
import type { InlineFile } from "../../../../schema/agent/InlineFile.ts"
import type { ProvidedMark } from "../../../../schema/agent/ProvidedMark.ts"
import { agentPath, agentRpcPath, type BlobKind, StoredBytes } from "../../../../schema/agent/Blob.ts"
import { sealingKey } from "../../../../actors/running/agent-pool/ServerKeys.ts"
import { ApiError } from "../../../../schema/errors/ApiError.ts"
import { AttemptLimits } from "../../../../src/accounts/AttemptLimits.ts"
import { agentRoutes } from "../../../../src/http/agent/AgentRoutes.ts"

type Claim = typeof RunClaim.Type
type Offer = typeof JobOffer.Type
type Kind = Exclude<typeof BlobKind.Type, "snapshot">

/** Serves the agent routes of the control plane under test on a separate port. */
export class AgentServer extends Context.Service<AgentServer, { readonly origin: string }>()("test/AgentServer") {
  static readonly layer = Layer.effect(
    AgentServer,
    Effect.suspend(() => serving)
  )
}

type Marker = HttpRouter.Request<"Requires" | "Error" | "GlobalRequires" | "GlobalError", unknown>

/** All agents of a test connect from the same address. */
const unlimited = Layer.succeed(AttemptLimits, { consume: () => Effect.void, enter: () => Effect.void })

const serving = Effect.gen(function* () {
  const services =
    yield* Effect.context<Exclude<Layer.Services<typeof agentRoutes>, HttpRouter.HttpRouter | Marker | AttemptLimits>>()
  const application = agentRoutes.pipe(
    Layer.provideMerge(HttpServer.layerServices),
    Layer.provideMerge(Layer.succeedContext(services)),
    Layer.provideMerge(unlimited)
  )
  const answer = yield* HttpRouter.toHttpEffect(application)
  const handler = HttpEffect.toWebHandler(Effect.catch(answer, failed))
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({ port: 0, hostname: "127.0.0.1", development: false, fetch: (request) => handler(request) })
    ),
    (running) => Effect.promise(() => running.stop(true))
  )
  return { origin: `http://127.0.0.1:${server.port}` }
})

const failed = (error: unknown) =>
  Effect.succeed(HttpServerResponse.empty({ status: error instanceof ApiError ? error.status : 500 }))

export const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

const raw = (key: KeyObject): string => key.export({ format: "jwk" }).x ?? ""

const decodePlan = Schema.decodeUnknownEffect(Schema.fromJsonString(PlanJob))
const decodeApply = Schema.decodeUnknownEffect(Schema.fromJsonString(ApplyJob))
const encodeResult = Schema.encodeEffect(Schema.fromJsonString(JobResult))
const encodeUnfinishedApply = Schema.encodeEffect(Schema.fromJsonString(UnfinishedApply))
const decodeStored = Schema.decodeUnknownEffect(StoredBytes)

export const machineFacts: AgentFacts = {
  version: "1.0.0",
  protocol: agentProtocol,
  capabilities: [],
  incarnation: "0".repeat(32),
  hostname: "machine",
  platform: "linux_amd64",
  tools: [{ name: "terraform", version: "1.11.4" }],
  isolation: "bubblewrap",
  labels: {},
  places: 4,
  disk: { freeBytes: 1e9, totalBytes: 2e9, low: false },
  draining: false
}

/** Creates a client that sends messages of the agent protocol to the server at `origin`. */
export const agentClient = Effect.fnUntraced(function* (origin: string) {
  const protocol = yield* Layer.build(
    RpcClient.layerProtocolHttp({
      url: origin,
      // The session is sent with the HTTP request, as by real agents.
      transformClient: HttpClient.mapRequestEffect((request) =>
        Effect.map(RpcClient.CurrentHeaders, (headers) =>
          HttpClientRequest.setHeaders(HttpClientRequest.setUrl(request, `${origin}${agentRpcPath}`), headers)
        )
      )
    }).pipe(Layer.provide(RpcSerialization.layerNdjson), Layer.provide(FetchHttpClient.layer))
  )
  return yield* RpcClient.make(AgentProtocol, { disableTracing: true }).pipe(Effect.provide(protocol))
})

/** Enrols an agent that sends any message that a test specifies. */
export const testAgent = Effect.fnUntraced(function* (
  origin: string,
  token: Redacted.Redacted,
  given: Partial<AgentFacts> = {}
) {
  const signing = generateKeyPairSync("ed25519")
  const sealing = generateKeyPairSync("x25519")
  const keys = { sign: raw(signing.publicKey), seal: raw(sealing.publicKey) }
  const opening = yield* Effect.promise(() =>
    crypto.subtle.importKey("jwk", sealing.privateKey.export({ format: "jwk" }), { name: "X25519" }, false, [
      "deriveBits"
    ])
  )
  const facts: AgentFacts = { ...machineFacts, incarnation: randomBytes(16).toString("hex"), ...given }
  const client = yield* agentClient(origin)
  const enrolled = yield* client.Enrol({ token, name: "one", keys, facts })
  const { agentId, installationId, server } = enrolled
  let session = ""

  const signed = (nonce: string, { incarnation }: AgentFacts, nextKeys?: AgentKeys) =>
    sign(
      null,
      Buffer.from(helloText({ agentId, incarnation, nonce, installationId, nextKeys })),
      createPrivateKey(signing.privateKey.export({ format: "pem", type: "pkcs8" }))
    ).toString("base64url")

  /** `unsignedKeys` are keys inserted by an attacker between the agent and the server. */
  const hello = Effect.fnUntraced(function* (
    held: ReadonlyArray<typeof HeldRun.Type> = [],
    more: {
      readonly facts?: Partial<AgentFacts>
      readonly unsignedKeys?: AgentKeys
      readonly marks?: ReadonlyArray<ProvidedMark>
    } = {}
  ) {
    const { nonce } = yield* client.Challenge({ agentId })
    const said = { ...facts, ...more.facts }
    const begun = yield* client.Hello({
      agentId,
      nonce,
      signature: signed(nonce, said),
      facts: said,
      held: [...held],
      ...(more.marks === undefined ? {} : { providedMarks: more.marks }),
      ...(more.unsignedKeys === undefined ? {} : { nextKeys: more.unsignedKeys })
    })
    session = Redacted.value(begun.session)
    return begun
  })

  /** Sends a message in any form, valid or not, and returns the response. */
  const unchecked = (tag: string, payload: unknown, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async () => {
      const message = { _tag: "Request", id: "1", tag, payload, headers: [] }
      const response = await fetch(
        new Request(`${origin}${agentRpcPath}`, {
          method: "POST",
          headers: { authorization: `Bearer ${session}`, ...headers },
          body: `${JSON.stringify(message)}\n`
        })
      )
      return { status: response.status, text: await response.text() }
    })

  /** Sends a message; the connection can be cut before the response arrives. */
  const cuttable = (tag: string, payload: unknown) =>
    Effect.sync(() => {
      const line = new AbortController()
      const message = { _tag: "Request", id: "1", tag, payload, headers: [] }
      const request = new Request(`${origin}${agentRpcPath}`, {
        method: "POST",
        headers: { authorization: `Bearer ${session}` },
        body: `${JSON.stringify(message)}\n`,
        signal: line.signal
      })
      const ended = fetch(request).then(
        () => "answered" as const,
        () => "cut" as const
      )
      return {
        cut: Effect.promise(() => {
          line.abort()
          return ended
        })
      }
    })

  const as = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => RpcClient.withHeaders(effect, { authorization: `Bearer ${session}` }))

  const address = ({ fence, runId }: Claim, kind: string, digest: string) =>
    `${origin}${agentPath}/runs/${runId}/${fence}/${kind}/${digest}`

  const get = (claim: Claim, kind: string, digest: string, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(() =>
      fetch(new Request(address(claim, kind, digest), { headers: { authorization: `Bearer ${session}`, ...headers } }))
    )

  const send = (claim: Claim, kind: string, digest: string, bytes: Uint8Array, from: number, total: number) =>
    Effect.promise(() =>
      fetch(
        new Request(address(claim, kind, digest), {
          method: "PUT",
          headers: {
            authorization: `Bearer ${session}`,
            "content-range":
              bytes.length === 0 ? `bytes */${total}` : `bytes ${from}-${from + bytes.length - 1}/${total}`
          },
          body: new Uint8Array(bytes)
        })
      )
    )

  const purpose = (claim: Claim, kind: Kind | "job", isOwn: boolean) =>
    sealedFor(
      isOwn ? { from: agentId, to: serverParty(installationId) } : { from: serverParty(installationId), to: agentId },
      claim,
      kind
    )

  /** Compresses bytes and seals them for the server. */
  const sealedPacked = Effect.fnUntraced(function* (claim: Claim, kind: Kind, packed: Uint8Array) {
    const key = yield* sealingKey(server.seal)
    const chunks = yield* Stream.runCollect(sealBlob(key, purpose(claim, kind, true), Stream.make(packed)))
    return new Uint8Array(Buffer.concat(chunks))
  })

  /** Seals bytes for the server. */
  const sealed = (claim: Claim, kind: Kind, plain: Uint8Array) =>
    Effect.flatMap(packContents(plain), (packed) => sealedPacked(claim, kind, packed))

  /** Returns the same bytes as a file to send within a message. */
  const inlineFile = Effect.fnUntraced(function* (claim: Claim, kind: InlineFile["kind"], plain: Uint8Array) {
    const bytes = yield* sealed(claim, kind, plain)
    return { kind, digest: digestOf(bytes), bytes }
  })

  const outcomeOf = (result: JobResult) => Effect.map(encodeResult(result), (words) => new TextEncoder().encode(words))

  const put = Effect.fnUntraced(function* (claim: Claim, kind: Kind, plain: Uint8Array) {
    const bytes = yield* sealed(claim, kind, plain)
    const digest = digestOf(bytes)
    const half = Math.floor(bytes.length / 2)
    yield* send(claim, kind, digest, bytes.subarray(0, half), 0, bytes.length)
    // The response to the first part was lost, so the agent sends the whole blob again.
    const response = yield* send(claim, kind, digest, bytes, 0, bytes.length)
    const stored = yield* decodeStored(yield* Effect.promise(() => response.json()))
    if (!stored.complete) return yield* Effect.die(new Error(`${kind} is not complete`))
    return digest
  })

  const openedFile = Effect.fnUntraced(function* (claim: Claim, kind: Kind, body: Uint8Array) {
    const chunks = yield* Stream.runCollect(openBlob(opening, purpose(claim, kind, false), Stream.make(body)))
    return yield* heldContents(Stream.fromIterable(chunks), 1e9)
  })

  const fetched = Effect.fnUntraced(function* (claim: Claim, kind: Kind, digest: string) {
    const response = yield* get(claim, kind, digest)
    if (response.status !== 200) return yield* Effect.die(new Error(`${kind}: ${response.status}`))
    const body = new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
    return yield* openedFile(claim, kind, body)
  })

  const opened = (offer: Offer) =>
    Effect.map(openSealed(opening, purpose(offer, "job", false), offer.sealedJob), (bytes) =>
      new TextDecoder().decode(bytes)
    )

  const claim = () => randomBytes(16).toString("hex")

  const finish = Effect.fnUntraced(function* (
    held: Claim,
    result: JobResult,
    more: { readonly lastBatch: number; readonly planFile?: string; readonly state?: string }
  ) {
    const outcome = yield* put(held, "outcome", yield* outcomeOf(result))
    const message = { ...held, outcome, ...more }
    yield* as(client.Result(message))
    // The response was lost, so the agent repeats the message.
    yield* as(client.Result(message))
  })

  const leftOver = Effect.fnUntraced(function* (held: Claim, left: UnfinishedApply) {
    const blob = yield* put(held, "left_over", new TextEncoder().encode(yield* encodeUnfinishedApply(left)))
    return yield* as(client.HandIn({ ...held, leftOver: blob }))
  })

  return {
    agentId,
    keys,
    facts,
    client,
    hello,
    signed,
    unchecked,
    cuttable,
    as,
    get,
    send,
    put,
    sealed,
    sealedPacked,
    inlineFile,
    outcomeOf,
    fetched,
    openedFile,
    /** The current session. */
    token: Effect.sync(() => session),
    claim,
    finish,
    leftOver,
    planJob: (offer: Offer) => Effect.flatMap(opened(offer), decodePlan),
    applyJob: (offer: Offer) => Effect.flatMap(opened(offer), decodeApply),
    next: (name: string) => as(client.Next({ claim: name, freePlaces: 1 }))
  }
})
export type TestAgent = Effect.Success<ReturnType<typeof testAgent>>
