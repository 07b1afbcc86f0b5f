import { Effect } from "effect"
import { mostStrangerBytes } from "../../../src/http/agent/AgentRoutes.ts"
import { agentRpcPath } from "../../../schema/agent/Blob.ts"
import { holds } from "../../crash/CrashClient.ts"
import { zstdBomb } from "../../support/ZstdBomb.ts"
import { digestOf } from "../../src/http/support/TestAgent.ts"
import type { Attack } from "../Attack.ts"
import { flood, sent, trickled } from "../Sent.ts"
import type { Target } from "../Target.ts"

const mebibyte = 1024 * 1024
const agentId = `agt_${"a".repeat(24)}`
const challenge = (id: number) =>
  `${JSON.stringify({ _tag: "Request", id: String(id), tag: "Challenge", payload: { agentId }, headers: [] })}\n`

const rpc = ({ url }: Target, body: BodyInit) =>
  sent(`${url}${agentRpcPath}`, { method: "POST", body, headers: { "content-type": "application/x-ndjson" } })

/** A Run of this Workspace that the target's agent has accepted. */
const heldRun = Effect.fnUntraced(function* ({ agent, client, repository, workspaceId }: Target, label: string) {
  yield* client.installPlans.create({
    params: { workspaceId },
    headers: { "idempotency-key": label },
    payload: {
      source: { name: label, url: repository },
      capsule: { name: label, environment: "test" }
    }
  })
  for (;;) {
    const { offer } = yield* agent.next(agent.claim())
    if (offer === undefined) continue
    yield* agent.as(agent.client.Accept(offer))
    return { runId: offer.runId, fence: offer.fence }
  }
})

const bombs: Attack = {
  name: "zstd bombs of 1,000 MiB in a Result",
  run: Effect.fnUntraced(function* (target, isShort) {
    const { agent } = target
    const held = yield* heldRun(target, "bombs")
    const forms = [{}, { stated: 1000 * mebibyte }, { stated: mebibyte }, { windowLog: 27 }]
    const times = isShort ? 2 : 25
    for (let time = 0; time < times; time += 1) {
      for (const form of forms) {
        const bytes = yield* agent.sealedPacked(held, "outcome", zstdBomb(1000, form))
        const outcome = digestOf(bytes)
        const files = [{ kind: "outcome" as const, digest: outcome, bytes }]
        const error = yield* Effect.flip(agent.as(agent.client.Result({ ...held, lastBatch: 0, outcome, files })))
        yield* holds(error._tag === "Rejected", `The server answered ${error._tag}`)
      }
    }
    return times * forms.length
  })
}

/** The longest possible body of brackets, braces or commas, because they make a parser create the most values. */
const manyValues = [
  (bytes: number) => "[".repeat(bytes),
  (bytes: number) => `[${"[],".repeat(bytes / 3 - 2)}[]]`,
  (bytes: number) => `[${'{"":0},'.repeat(bytes / 7 - 2)}{}]`,
  (bytes: number) => `"${"\\u0000".repeat(bytes / 6 - 2)}"`
]

const floods: ReadonlyArray<Attack> = [
  {
    name: "agents' door: 36,000 messages in a request",
    run: Effect.fnUntraced(function* (target, isShort) {
      const body = Array.from({ length: 36_000 }, (_, index) => challenge(index)).join("")
      const times = isShort ? 24 : 240
      const answers = yield* flood(times, 12, () => rpc(target, body))
      yield* holds(!answers.has(200), `${answers.get(200)?.length} were taken`)
      return times
    })
  },
  {
    name: "agents' door: 64 KiB of values in a request",
    run: Effect.fnUntraced(function* (target, isShort) {
      const times = isShort ? 200 : 4000
      yield* flood(times, 50, (index) => rpc(target, manyValues[index % manyValues.length]?.(mostStrangerBytes) ?? ""))
      return times
    })
  },
  {
    name: "agents' door: bodies that trickle",
    run: (target, isShort) =>
      trickled({
        url: target.url,
        path: agentRpcPath,
        headers: { "content-type": "application/x-ndjson" },
        count: isShort ? 200 : 1000,
        seconds: isShort ? 1 : 40
      })
  },
  {
    name: "agents' door: 1,000 greetings at once",
    run: Effect.fnUntraced(function* (target, isShort) {
      const times = isShort ? 1000 : 10_000
      yield* flood(times, 1000, (index) => rpc(target, challenge(index)))
      return times
    })
  },
  {
    name: "agent: 4 MiB of values in a message",
    run: Effect.fnUntraced(function* (target, isShort) {
      const { agent, url } = target
      const times = isShort ? 8 : 100
      const token = yield* agent.token
      yield* flood(times, 8, (index) =>
        sent(`${url}${agentRpcPath}`, {
          method: "POST",
          body: manyValues[index % manyValues.length]?.(4 * mebibyte) ?? "",
          headers: { "content-type": "application/x-ndjson", authorization: `Bearer ${token}` }
        })
      )
      return times
    })
  }
]

export const agentAttacks: ReadonlyArray<Attack> = [bombs, ...floods]
