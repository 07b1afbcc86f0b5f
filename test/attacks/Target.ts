import { readFileSync } from "node:fs"
import { Clock, Effect, FileSystem, Redacted, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { version } from "../../src/Version.ts"
import { atRealTimePriority } from "../bench/support/RealTimePriority.ts"
import { module, repositoryOf } from "../bench/support/Modules.ts"
import { startProduct } from "../bench/support/Product.ts"
import { testAgent } from "../src/http/support/TestAgent.ts"

const bystanderMain = fileURLToPath(new URL("BystanderMain.ts", import.meta.url))
const Issued = Schema.fromJsonString(Schema.Struct({ token: Schema.String }))
const Person = Schema.Struct({ subject: Schema.String })
const personOf = Schema.decodeEffect(Schema.fromJsonString(Person))

export interface Answer {
  readonly due: number
  readonly millis: number
  readonly status: number
}

const password = "a password of the bystander"

/** A person who is neither the owner nor, initially, a member of the Workspace. */
const member = Effect.fnUntraced(function* (
  product: Effect.Success<ReturnType<typeof startProduct>>,
  operator: (stdin: string, ...args: ReadonlyArray<string>) => Effect.Effect<string, unknown, never>
) {
  const email = "eve@example.com"
  const { subject } = yield* personOf(
    yield* operator(`${password}\n`, "create-user", "--email", email, "--password-stdin")
  )
  const { link } = yield* product.client.workspaces.addMember({
    params: { workspaceId: product.workspaceId },
    payload: { email, role: "member" }
  })
  const post = (path: string, body: Schema.Json, cookie?: string) =>
    Effect.promise(() =>
      fetch(`${product.url}${path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          origin: product.url,
          ...(cookie === undefined ? {} : { cookie })
        },
        body: JSON.stringify(body)
      })
    )
  const cookie = (yield* post("/auth/sign-in", { email, password })).headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ")
  yield* post("/api/v1/invitations/accept", { secret: new URL(link ?? "").hash.slice(1) }, cookie)
  const { token } = yield* Schema.decodeEffect(Issued)(
    yield* operator("", "create-token", "--subject", subject, "--name", "eve", "--scopes", "read,write")
  )
  return { email, token }
})

/**
 * A real server with an agent that holds a Run, a Source with a webhook, and a bystander: a member who reads fifty times and
 * writes once a second. The server trusts client addresses reported by this machine, so that an attack can use many
 * addresses.
 */
export const startTarget = Effect.fn("startTarget")(function* (program: string) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-attacks-" })
  const repository = yield* repositoryOf({ "main.tf": module })
  const policy = `${folder}/policy.json`
  const rules = { profiles: { far: { pool: "far" } }, baseConfigs: [{ origin: repository.origin, profile: "far" }] }
  yield* files.writeFileString(policy, JSON.stringify(rules))
  const flags = {
    "git-allow-origins": repository.origin,
    "policy-file": policy,
    "operator-listen": "127.0.0.1:0",
    "trusted-proxies": "127.0.0.1",
    "tool-download": "off"
  }
  const product = yield* startProduct(
    Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
    [program]
  )
  const operator = (stdin: string, ...args: ReadonlyArray<string>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const command = yield* spawner.spawn(
          ChildProcess.make(program, ["admin", ...args, "--data-dir", product.dataDir, "--json"], {
            extendEnv: false,
            env: { PATH: process.env["PATH"] ?? "", HOME: folder },
            stdin: Stream.make(new TextEncoder().encode(stdin)),
            stderr: "inherit"
          })
        )
        return (yield* Stream.mkString(Stream.decodeText(command.stdout))).trim()
      })
    )
  const { workspaces } = yield* product.client.workspaces.list({ query: {} })
  yield* operator("", "pool", "create", "far")
  yield* operator("", "pool", "assign", "far", workspaces[0]?.handle ?? "")
  const issued = yield* operator("", "agent", "token", "--pool", "far")
  const { token: enrolment } = yield* Schema.decodeEffect(Issued)(issued)
  const agent = yield* testAgent(product.url, Redacted.make(enrolment), { version })
  yield* agent.hello()

  const workspaceId = WorkspaceId.make(product.workspaceId)
  const { hookSecret, source } = yield* product.client.sources.create({
    payload: { workspaceId, name: "attacked", url: repository.url }
  })
  const bystander = yield* member(product, operator)
  const watched = yield* product.client.sources.create({
    payload: { workspaceId, name: "bystander", url: repository.url }
  })
  const watching = yield* spawner.spawn(
    ChildProcess.make(
      process.execPath,
      [bystanderMain, product.url, product.workspaceId, watched.source.id, bystander.token],
      { extendEnv: true, stderr: "inherit", killSignal: "SIGKILL" }
    )
  )
  const answers: Array<Answer> = []
  yield* Stream.decodeText(watching.stdout).pipe(
    Stream.splitLines,
    Stream.runForEach((line) =>
      Effect.sync(() => {
        const [due = 0, millis = 0, status = 0] = line.split(" ").map(Number)
        answers.push({ due, millis, status })
      })
    ),
    Effect.forkScoped
  )
  const hasPriority = yield* atRealTimePriority([product.pid, watching.pid])

  const gauges = Effect.promise(async () => (await fetch(`${product.operatorUrl}/metrics`)).text())
  return {
    ...product,
    repository: repository.url,
    agent,
    attacked: { id: source.id, secret: hookSecret },
    memberEmail: bystander.email,
    memberToken: bystander.token,
    hasPriority,
    /** Returns the bystander's responses to requests that were due at or after this time. */
    answersSince: (due: number) => answers.filter((answer) => answer.due >= due),
    /** Returns the longest time, in milliseconds, for which the server's main thread was blocked since the previous call. */
    blocked: Effect.map(gauges, (text) => 1000 * Number(/^svc_main_thread_blocked_seconds (\S+)$/m.exec(text)?.[1])),
    resident: Effect.sync(
      () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${product.pid}/status`, "latin1"))?.[1]) / 1024
    ),
    now: Clock.currentTimeMillis
  }
})

export type Target = Effect.Success<ReturnType<typeof startTarget>>
