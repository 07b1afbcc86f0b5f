import { Effect, FileSystem, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { faultLine } from "../../agents/line/FaultLine.ts"
import { repositoryOf } from "../support/Modules.ts"
import { atRealTimePriority } from "../support/RealTimePriority.ts"
import { startProduct } from "../support/Product.ts"

const Issued = Schema.fromJsonString(Schema.Struct({ token: Schema.String }))

/** Gives a core to the server, the agent, and this process, which sends the requests, whenever they need one. */
export const promptly = Effect.fn("promptly")(function* (product: FarProduct) {
  return (yield* atRealTimePriority([product.pid, product.agentPid, process.pid]))
    ? "at a real-time priority"
    : "at an ordinary priority"
})

/**
 * A server that executes the Runs of one repository through an agent on this machine, and the Runs of another repository itself.
 * The connection between server and agent records the duration of each transfer, unless the agent connects directly.
 */
export const farProduct = Effect.fn("farProduct")(function* (
  binary: string,
  tool: string,
  files: Readonly<Record<string, string>>,
  { agentTool = tool, isDirect = false }: { readonly agentTool?: string; readonly isDirect?: boolean } = {}
) {
  const system = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* system.makeTempDirectoryScoped({ prefix: "svc-bench-agent-" })
  const near = yield* repositoryOf(files)
  const far = yield* repositoryOf(files)
  const policy = `${folder}/policy.json`
  const profiles = { far: { pool: "far" } }
  yield* system.writeFileString(
    policy,
    JSON.stringify({ profiles, baseConfigs: [{ origin: far.origin, profile: "far" }] })
  )
  const origins = `${near.origin},${far.origin}`
  const flags = ["--git-allow-origins", origins, "--tool", tool, "--policy-file", policy]
  const product = yield* startProduct(flags, [binary])
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, NODE_ENV: "production" }
  const operator = (...args: ReadonlyArray<string>) =>
    spawner.string(
      ChildProcess.make(binary, ["admin", ...args, "--data-dir", product.dataDir, "--json"], { extendEnv: false, env })
    )
  const { workspaces } = yield* product.client.workspaces.list({ query: {} })
  yield* operator("pool", "create", "far")
  yield* operator("pool", "assign", "far", workspaces[0]?.handle ?? "")
  const { token } = yield* Schema.decodeEffect(Issued)(yield* operator("agent", "token", "--pool", "far"))
  const line = yield* faultLine(product.url)
  const agent = yield* spawner.spawn(
    ChildProcess.make(
      binary,
      [
        "agent",
        "--server",
        isDirect ? product.url : line.url,
        "--pool",
        "far",
        "--dir",
        `${folder}/agent`,
        "--log",
        "error"
      ],
      {
        extendEnv: false,
        env: { ...env, SVC_AGENT_TOKEN: token, SVC_TOOL: agentTool },
        stdout: "ignore",
        stderr: "inherit",
        // Kills the agent, which would otherwise finish its Runs first.
        killSignal: "SIGKILL"
      }
    )
  )
  yield* Effect.forkScoped(Stream.runDrain(agent.all))
  return { ...product, agentPid: agent.pid, near: near.url, far: far.url, line }
})

export type FarProduct = Effect.Success<ReturnType<typeof farProduct>>
