import { Effect, Redacted } from "effect"
import { holds } from "../../crash/CrashClient.ts"
import type { Attack } from "../Attack.ts"
import { flood, sent } from "../Sent.ts"
import type { Target } from "../Target.ts"

const mebibyte = 1024 * 1024
const state = `{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"x","outputs":{},"resources":`

const states: ReadonlyArray<() => string> = [
  () => "[".repeat(20 * mebibyte),
  () => `${state}${"[".repeat(20 * mebibyte)}`,
  () => `${state}[${"[],".repeat(7 * mebibyte)}[]]}`,
  () => `${state}[${'{"":0},'.repeat(4 * mebibyte)}{}]}`,
  () => `${state}[${"1,".repeat(15 * mebibyte)}1]}`,
  () => `${state}["${"\\u0000".repeat(5 * mebibyte)}"]}`
]

const uploads = (
  name: string,
  path: "state-uploads" | "backup-uploads",
  forms: ReadonlyArray<() => string>
): Attack => ({
  name,
  run: Effect.fnUntraced(function* (target: Target, isShort: boolean) {
    const rounds = isShort ? 1 : 10
    let key = 0
    for (let round = 0; round < rounds; round += 1) {
      for (const form of forms) {
        const body = form()
        key += 1
        const status = yield* sent(`${target.url}/api/v1/workspaces/${target.workspaceId}/${path}`, {
          method: "POST",
          body,
          headers: {
            authorization: `Bearer ${Redacted.value(target.token)}`,
            "content-type": "application/octet-stream",
            "idempotency-key": `${path}-${key}`
          }
        })
        yield* holds(status >= 400 && status < 500, `The answer was ${status}`)
      }
    }
    return rounds * forms.length
  })
})

const deepBodies: Attack = {
  name: "member: deep and wide bodies of 1 MiB",
  run: Effect.fnUntraced(function* (target, isShort) {
    const bodies = ["[".repeat(mebibyte - 2), `[${"1,".repeat(mebibyte / 2 - 2)}1]`, `[${"[],".repeat(90_000)}[]]`]
    const times = isShort ? 30 : 600
    const answers = yield* flood(times, 10, (index) =>
      sent(`${target.url}/api/v1/workspaces/${target.workspaceId}/install-plans`, {
        method: "POST",
        body: bodies[index % bodies.length] ?? "",
        headers: {
          authorization: `Bearer ${Redacted.value(target.token)}`,
          "content-type": "application/json",
          "idempotency-key": `deep-${index}`
        }
      })
    )
    yield* holds(!answers.has(500) && !answers.has(201), `The answers were ${[...answers.keys()].join(", ")}`)
    return times
  })
}

/** Builds a body of this many bytes for a new Connection, with secrets in the forms that take longest to process. */
const connectionBodies = (bytes: number, workspaceId: string) => {
  const file = (content: string) => ({ name: "f", content })
  const head = { workspaceId, provider: "hashicorp/aws", displayName: "attack" }
  const whole = (more: string) => `${JSON.stringify(head).slice(0, -1)},${more}}`
  const inFiles = (escape: string) =>
    whole(
      `"files":[${Array.from({ length: 16 }, () => `{"name":"f","content":"${escape.repeat(Math.floor(bytes / 16 / escape.length) - 16)}"}`).join(",")}]`
    )
  return [
    inFiles("\\u0000"),
    inFiles("\\n"),
    inFiles("x"),
    whole(`"providerConfig":{"a":[${"[],".repeat(90_000)}[]]}`),
    whole(`"files":${JSON.stringify(Array.from({ length: 38_000 }, () => file("x")))}`)
  ]
}

const connections: Attack = {
  name: "owner: new Connections of 1 MiB",
  run: Effect.fnUntraced(function* (target, isShort) {
    const bodies = connectionBodies(mebibyte - 4096, target.workspaceId)
    const times = isShort ? bodies.length : 20 * bodies.length
    const answers = yield* flood(times, 4, (index) =>
      sent(`${target.url}/api/v1/connections`, {
        method: "POST",
        body: bodies[index % bodies.length] ?? "",
        headers: {
          authorization: `Bearer ${Redacted.value(target.token)}`,
          "content-type": "application/json",
          "idempotency-key": `connection-${index}`
        }
      })
    )
    yield* holds(!answers.has(500) && !answers.has(201), `The answers were ${[...answers.keys()].join(", ")}`)
    return times
  })
}

export const memberAttacks: ReadonlyArray<Attack> = [
  uploads("owner: states of 20 to 32 MiB", "state-uploads", states),
  uploads("owner: backups of 20 to 32 MiB", "backup-uploads", states),
  deepBodies,
  connections
]
