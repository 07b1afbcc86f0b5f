import { createHash, randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { HttpRouter } from "effect/http"
import { RpcSerialization, RpcServer } from "effect/rpc"
import type { AgentKeys } from "../../../../schema/agent/AgentIdentity.ts"
import { type HeldRun, type HeldRunOrder, offerText } from "../../../../schema/agent/AgentJob.ts"
import { AgentProtocol } from "../../../../schema/agent/AgentProtocol.ts"
import { Gone, Unauthorised } from "../../../../schema/agent/AgentRefusal.ts"
import { agentRpcPath } from "../../../../schema/agent/Blob.ts"
import { type InlineFile, inlineFilesCapability } from "../../../../schema/agent/InlineFile.ts"
import { PoolName } from "../../../../schema/agent/PoolName.ts"
import type { ProvidedMark } from "../../../../schema/agent/ProvidedMark.ts"
import { AgentId, EvidenceId } from "../../../../schema/records/Ids.ts"
import { sealingKey } from "../../../../runner/agent/AgentKeyPair.ts"
import { heldContents, packContents, sealedFor, serverParty } from "../../../../runner/agent/BlobContents.ts"
import { JobResult } from "../../../../runner/agent/JobResult.ts"
import { openBlob, sealBlob } from "../../../../runner/agent/SealedBlob.ts"
import { sealFor } from "../../../../runner/agent/SealedMessage.ts"
import { UnfinishedApply } from "../../../../runner/execution/RunOutcome.ts"
import { pair, raw } from "./ScriptedKeys.ts"
import { type Fault, type NewRun, newRun, reported, type ScriptedRun } from "./ScriptedRun.ts"

const installationId = "ins_scripted"
const decodeResult = Schema.decodeEffect(Schema.fromJsonString(JobResult))
const decodeLeft = Schema.decodeEffect(Schema.fromJsonString(UnfinishedApply))
const mostBytes = 512 * 1024 * 1024

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

const collected = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => new Uint8Array(Buffer.concat(chunks)))

/** Starts a server that implements its side of the protocol in memory over real HTTP, and loses messages on request. */
export const scriptedServer = Effect.gen(function* () {
  const [seal, sign, forger] = yield* Effect.promise(() =>
    Promise.all([pair("X25519"), pair("Ed25519"), pair("Ed25519")])
  )
  const server: AgentKeys = yield* Effect.promise(async () => ({
    seal: await raw(seal.publicKey),
    sign: await raw(sign.publicKey)
  }))
  const runs: Array<ScriptedRun> = []
  const snapshots = new Map<string, string>()
  const faults: Array<Fault> = []
  const captured: Array<Uint8Array> = []
  const said: Array<string> = []
  const held: Array<ReadonlyArray<HeldRun>> = []
  const draining: Array<unknown> = []
  const left: Array<unknown> = []
  const marks: Array<ReadonlyArray<ProvidedMark>> = []
  const parts = new Map<string, Buffer>()
  const sealedAnswers = new Map<string, Uint8Array>()
  let takesFiles = false
  let agent: { readonly agentId: AgentId; readonly keys: AgentKeys } | undefined
  const sessions = new Set<string>()
  let claimed: { readonly claim: string; readonly run: ScriptedRun } | undefined

  const parties = () => ({ from: serverParty(installationId), to: agent?.agentId ?? "" })
  const back = () => ({ from: agent?.agentId ?? "", to: serverParty(installationId) })
  const runOf = (claim: { readonly runId: string; readonly fence: number }) =>
    runs.find(({ fence, runId }) => runId === claim.runId && fence === claim.fence)

  const own = Effect.fnUntraced(function* (
    message: string,
    claim: { readonly runId: string; readonly fence: number },
    headers: Readonly<Record<string, string | undefined>>
  ) {
    yield* signedIn(headers)
    const run = runOf(claim)
    if (run === undefined || run.gone !== undefined) return yield* new Gone({ message: "gone" })
    run.heard.push(message)
    return run
  })

  const signedIn = (headers: Readonly<Record<string, string | undefined>>) =>
    sessions.has((headers["authorization"] ?? "").replace("Bearer ", ""))
      ? Effect.void
      : new Unauthorised({ message: "no session", retry: true })

  const opened = (run: ScriptedRun, kind: Parameters<typeof sealedFor>[2], digest: string) =>
    collected(
      openBlob(seal.privateKey, sealedFor(back(), run, kind), Stream.make(new Uint8Array(parts.get(digest) ?? [])))
    ).pipe(
      Effect.flatMap((packed) =>
        kind === "build" ? Effect.succeed(packed) : heldContents(Stream.make(packed), mostBytes)
      ),
      Effect.orDie
    )

  const keep = (files: ReadonlyArray<InlineFile> = []) => {
    for (const { bytes, digest } of files) parts.set(digest, Buffer.from(bytes))
  }

  const filesOf = (run: ScriptedRun) =>
    Effect.promise(() =>
      Promise.all(
        (["state", "plan_file"] as const).flatMap((kind) => {
          const plain = run.secrets[kind]
          const digest = plain === undefined ? "" : digestOf(plain)
          return plain === undefined ? [] : [served(run, kind, digest).then((bytes) => ({ kind, digest, bytes }))]
        })
      )
    )

  const handlers = AgentProtocol.toLayer({
    Challenge: () => Effect.succeed({ nonce: randomBytes(16).toString("hex") }),
    Enrol: ({ keys, token }) =>
      Effect.gen(function* () {
        if (Redacted.value(token) !== "enrolment-token-canary") {
          return yield* new Unauthorised({ message: "This enrolment token is not valid.", retry: false })
        }
        agent ??= { agentId: AgentId.make("agt_01000000000000000000000000"), keys }
        return { agentId: agent.agentId, pool: PoolName.make("eu"), server, installationId }
      }),
    Hello: ({ held: named, providedMarks = [] }) =>
      Effect.sync(() => {
        marks.push(providedMarks)
        held.push(named)
        const session = randomBytes(16).toString("hex")
        sessions.add(session)
        const orders = named.map((claim): HeldRunOrder => {
          const run = runOf(claim)
          return {
            runId: claim.runId,
            fence: claim.fence,
            order: run === undefined ? "discard" : (run.gone ?? "continue"),
            acknowledged: run?.lastBatch ?? 0,
            cancel: run?.cancel ?? false,
            ...(run === undefined ? {} : { leaseSeconds: run.leaseSeconds })
          }
        })
        return {
          session: Redacted.make(session),
          sessionSeconds: 600,
          pool: PoolName.make("eu"),
          protocol: 1,
          capabilities: takesFiles ? [inlineFilesCapability] : [],
          orders,
          renewSeconds: 1,
          serverTime: "2026-01-31T09:30:00.000Z"
        }
      }),
    Next: ({ claim }, { headers }) =>
      Effect.gen(function* () {
        yield* signedIn(headers)
        if (claimed?.claim !== claim) {
          const run = runs.find(({ offered }) => !offered)
          if (run === undefined) {
            yield* Effect.sleep("100 millis")
            return { drain: false }
          }
          run.offered = true
          claimed = { claim, run }
        }
        const { run } = claimed
        const sealedJob = yield* sealFor(
          yield* sealingKey(agent?.keys.seal ?? ""),
          sealedFor(parties(), run, "job"),
          new TextEncoder().encode(run.job)
        )
        const offer = {
          runId: run.runId,
          fence: run.fence,
          kind: run.kind,
          leaseSeconds: run.leaseSeconds,
          snapshot: run.snapshot,
          ...(run.secrets.state === undefined ? {} : { state: digestOf(run.secrets.state) }),
          ...(run.secrets.plan_file === undefined ? {} : { planFile: digestOf(run.secrets.plan_file) })
        }
        const words = offerText(parties(), offer, digestOf(new TextEncoder().encode(sealedJob)))
        const signature = yield* Effect.promise(() =>
          crypto.subtle.sign("Ed25519", (run.isForged ? forger : sign).privateKey, new TextEncoder().encode(words))
        )
        return {
          drain: false,
          offer: {
            ...offer,
            ...(takesFiles ? { files: yield* filesOf(run) } : {}),
            sealedJob,
            signature: Buffer.from(signature).toString("base64url")
          }
        }
      }),
    Accept: (claim, { headers }) => Effect.asVoid(own("Accept", claim, headers)),
    Decline: ({ reason, ...claim }, { headers }) => Effect.asVoid(own(`Decline ${reason}`, claim, headers)),
    Start: (claim, { headers }) => Effect.asVoid(own("Start", claim, headers)),
    Renew: ({ draining: isDraining, held: named, leaving = false }, { headers }) =>
      Effect.gen(function* () {
        yield* signedIn(headers)
        if (leaving) left.push(named)
        if (isDraining) draining.push(named)
        const mine = named.flatMap((claim) => runOf(claim) ?? [])
        return {
          drain: false,
          leases: mine
            .filter(({ gone }) => gone === undefined)
            .map(({ cancel, fence, leaseSeconds, runId }) => ({ runId, fence, leaseSeconds, cancel })),
          gone: mine.flatMap(({ cancel, fence, gone, lastBatch, runId }) =>
            gone === undefined ? [] : [{ runId, fence, order: gone, acknowledged: lastBatch, cancel }]
          )
        }
      }),
    Report: ({ batch, ...claim }, { headers }) =>
      Effect.map(own("Report", claim, headers), (run) => reported(run, batch)),
    Checkpoint: ({ blob, files, serial, ...claim }, { headers }) =>
      Effect.gen(function* () {
        const run = yield* own("Checkpoint", claim, headers)
        keep(files)
        yield* opened(run, "state", blob)
        run.serials.push(serial)
      }),
    Result: ({ files, lastReport, outcome, planFile, state, ...claim }, { headers }) =>
      Effect.gen(function* () {
        const run = yield* own("Result", claim, headers)
        keep(files)
        if (lastReport !== undefined) reported(run, lastReport)
        const text = new TextDecoder().decode(yield* opened(run, "outcome", outcome))
        const result = yield* Effect.orDie(decodeResult(text))
        if (planFile !== undefined) run.files.set("plan_file", yield* opened(run, "plan_file", planFile))
        if (state !== undefined) run.files.set("state", yield* opened(run, "state", state))
        run.results.push(result)
      }),
    HandIn: ({ leftOver, ...claim }, { headers }) =>
      Effect.gen(function* () {
        yield* signedIn(headers)
        const run = runOf(claim)
        if (run === undefined) return yield* new Gone({ message: "unknown" })
        const text = new TextDecoder().decode(yield* opened(run, "left_over", leftOver))
        run.handedIn.push(yield* Effect.orDie(decodeLeft(text)))
        return { evidenceId: EvidenceId.make("evd_01000000000000000000000000") }
      })
  })

  const web = HttpRouter.toWebHandler(
    RpcServer.layerHttp({ group: AgentProtocol, path: agentRpcPath, protocol: "http", disableTracing: true }).pipe(
      Layer.provide(handlers),
      Layer.provide(RpcSerialization.layerNdjson)
    ),
    { disableLogger: true }
  )
  yield* Effect.addFinalizer(() => Effect.promise(() => web.dispose()))

  const served = async (run: ScriptedRun, kind: string, digest: string): Promise<Uint8Array> => {
    if (kind === "snapshot") return readFileSync(snapshots.get(digest) ?? "")
    const name = `${run.runId} ${kind} ${digest}`
    const known = sealedAnswers.get(name)
    if (known !== undefined) return known
    const plain = kind === "state" ? run.secrets.state : run.secrets.plan_file
    const key = await Effect.runPromise(sealingKey(agent?.keys.seal ?? ""))
    const packed = await Effect.runPromise(packContents(plain ?? new Uint8Array(0)))
    const sealed = await Effect.runPromise(
      collected(sealBlob(key, sealedFor(parties(), run, kind === "state" ? "state" : "plan_file"), Stream.make(packed)))
    )
    sealedAnswers.set(name, sealed)
    return sealed
  }

  const put = (request: Request, body: Uint8Array, digest: string): Response => {
    const [, from = "0", total = "0"] =
      /^bytes (\d+)-\d+\/(\d+)$/.exec(request.headers.get("content-range") ?? "") ?? []
    const stored = parts.get(digest) ?? Buffer.alloc(0)
    if (Number(from) <= stored.length && Number(from) + body.length > stored.length) {
      parts.set(digest, Buffer.concat([stored.subarray(0, Number(from)), body]))
    }
    const now = parts.get(digest) ?? stored
    if (now.length === Number(total) && digestOf(now) !== digest) return new Response(null, { status: 422 })
    return Response.json({ storedBytes: now.length, complete: now.length === Number(total) })
  }

  const blob = async (request: Request, path: string, body: Uint8Array): Promise<Response> => {
    const [, runId = "", fence = "", kind = "", digest = ""] =
      /^\/agent\/v1\/runs\/([^/]+)\/(\d+)\/([^/]+)\/(.+)$/.exec(path) ?? []
    if (!sessions.has((request.headers.get("authorization") ?? "").replace("Bearer ", "")))
      return new Response(null, { status: 401 })
    const run = runOf({ runId, fence: Number(fence) })
    if (run === undefined) return new Response(null, { status: 404 })
    if (run.gone !== undefined && kind !== "left_over") return new Response(null, { status: 410 })
    if (request.method === "PUT") return put(request, body, digest)
    const bytes = await served(run, kind, digest)
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.get("range") ?? "")?.[1] ?? 0)
    return from === 0
      ? new Response(new Uint8Array(bytes))
      : new Response(new Uint8Array(bytes.subarray(from)), { status: 206 })
  }

  const lost = (message: string, when: Fault["lost"]): boolean => {
    const fault = faults.find((one) => one.message === message && one.lost === when && one.times > 0)
    if (fault !== undefined) fault.times -= 1
    return fault !== undefined
  }

  let down = false
  const http = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: async (request) => {
          const { pathname } = new URL(request.url)
          const body = new Uint8Array(await request.clone().arrayBuffer())
          captured.push(body)
          const isRpc = pathname === agentRpcPath
          const message = isRpc
            ? (/"tag":"([A-Za-z]+)"/.exec(new TextDecoder().decode(body))?.[1] ?? "")
            : `${request.method} ${pathname.split("/")[6] ?? ""}`
          said.push(message)
          // A proxy's response when its server is down.
          if (down || lost(message, "request")) return new Response(null, { status: 502 })
          const answer = await (isRpc ? web.handler(request) : blob(request, pathname, body))
          await answer.clone().arrayBuffer()
          return down || lost(message, "answer") ? new Response(null, { status: 502 }) : answer
        }
      })
    ),
    (one) => Effect.promise(() => one.stop(true))
  )

  return {
    url: http.url.origin,
    runs,
    snapshots,
    faults,
    captured,
    said,
    held,
    draining,
    left,
    marks,
    /** Cuts or restores the connection. */
    cut: (isCut: boolean) => {
      down = isCut
    },
    /** Switches the emulated release, current or previous, for new sessions. */
    takeFiles: (isTaking: boolean) => {
      takesFiles = isTaking
    },
    /** Drops all sessions, as a restart does. */
    forgetSessions: () => sessions.clear(),
    add: (run: NewRun) => {
      const scripted = newRun(run)
      runs.push(scripted)
      return scripted
    }
  }
})

export type ScriptedServer = Effect.Success<typeof scriptedServer>
