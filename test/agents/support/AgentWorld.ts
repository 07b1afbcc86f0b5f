import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { Effect, FileSystem, Option, Redacted, Schedule, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { PoolName } from "../../../schema/agent/PoolName.ts"
import type { RunEvent } from "../../../schema/events/RunEvent.ts"
import type { CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import type { Run } from "../../../schema/records/Run.ts"
import { makeClient } from "../../../src/client/index.ts"
import { signInForFirstTime } from "../../../src/cli/demo/DemoSession.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { Broken } from "../../crash/CrashClient.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { faultLine, type FaultLine } from "../line/FaultLine.ts"
import { canaries, modules, type ModuleName, needsProvider, pathOf, provider, sourceBuild } from "./AgentModules.ts"
import { type Started, started } from "./Processes.ts"
import { reviewed } from "../../support/ReviewedPlan.ts"

const [credential, password] = canaries
/** The name under which agents hold the provider's credential if the control plane does not have it. */
export const ownName = "cloud"

const mostAttempts = 5

const often = Schedule.spaced("50 millis")

const Told = Schema.fromJsonString(Schema.Struct({ url: Schema.String, setupLink: Schema.NullOr(Schema.String) }))
const Enrolled = Schema.fromJsonString(Schema.Struct({ agentId: Schema.String }))

export interface WorldOptions {
  readonly folder: string
  /**
   * The programs under test. If one program is from an earlier release, the suite tests whether the two releases work together.
   */
  readonly server: string
  readonly agent?: string
  readonly leaseSeconds?: number
  readonly serverEnv?: Readonly<Record<string, string>>
  readonly isolation?: "off" | "required"
  /** True if the server has no credential for the provider: the Connection then refers to the pool's credential by name. */
  readonly leavesCredential?: boolean
  /** The address of a balancer that clients and agents use. The first server registers there before any other server. */
  readonly front?: { readonly url: string; readonly first: (serverUrl: string) => void }
}

export interface AgentOptions {
  readonly line?: FaultLine
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
  readonly places?: number
  /** The address at which the agent contacts the server, if it differs from the line's address. */
  readonly server?: string
  /** Replaces the program that the world uses by default. */
  readonly program?: ReadonlyArray<string>
  /** Runs the agent as this user, in a separate folder and without the provider. Only root can start such an agent. */
  readonly user?: number
}

/** Returns true if a Run is neither queued nor running. */
export const isOver = ({ status }: Pick<Run, "status">) => status !== "queued" && status !== "running"

/** A real server, a pool, and real agents, each in a separate process, behind a connection that can be cut. */
export const agentWorld = Effect.fn("agentWorld")(function* (options: WorldOptions) {
  const files = yield* FileSystem.FileSystem
  const { folder } = options
  const isolation = options.isolation ?? "off"
  const dataDir = `${folder}/data`
  const output = `${folder}/output`
  for (const name of [folder, output]) mkdirSync(name, { recursive: true, mode: 0o711 })
  const mirror = yield* providerMirror
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, files: modules(mirror.notesDir) })
  const repository = yield* serveRepository({ gitdir })
  const policy = `${folder}/policy.json`
  const profiles = { far: { pool: "far" } }
  const baseConfigs = [{ origin: repository.origin, profile: "far" }]
  yield* files.writeFileString(policy, JSON.stringify({ profiles, baseConfigs }))

  const env = { PATH: process.env["PATH"] ?? "", HOME: folder }
  const read = (stream: ReadableStream<Uint8Array>) =>
    Stream.fromReadableStream({ evaluate: () => stream, onError: () => new Broken({ message: "No output" }) }).pipe(
      Stream.decodeText()
    )

  /** Runs an operator's command while the server is running. */
  const atTerminal = (...args: ReadonlyArray<string>) =>
    Effect.scoped(
      Effect.gen(function* () {
        const command = [options.server, "admin", ...args, "--data-dir", dataDir]
        const done = yield* started(command, { cwd: folder, env, output })
        return yield* Stream.mkString(read(done.stdout))
      })
    )
  const operator = (...args: ReadonlyArray<string>) => atTerminal(...args, "--json")

  let current: (Started & { readonly url: string }) | undefined

  const serve = Effect.fnUntraced(function* (
    listen: string,
    more: Readonly<Record<string, string>> = {},
    ownFolder = dataDir,
    program = options.server
  ) {
    const given = {
      "data-dir": ownFolder,
      listen,
      "git-allow-origins": repository.origin,
      "policy-file": policy,
      "tool-download": "off",
      "runner-isolation": isolation,
      "log-format": "json",
      log: "debug"
    }
    const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
    const server = yield* started([program, "serve", "--json", ...flags], {
      cwd: folder,
      env: { ...env, ...options.serverEnv, ...more },
      output
    })
    const lines = read(server.stdout).pipe(Stream.splitLines)
    const line = yield* Stream.runHead(lines)
    const told = yield* Schema.decodeEffect(Told)(Option.getOrElse(line, () => ""))
    current = { ...server, ...told }
    return { ...server, ...told }
  })

  const own = yield* serve("127.0.0.1:0")
  options.front?.first(own.url)
  const first = { ...own, url: options.front?.url ?? own.url }
  const secret = (first.setupLink ?? "").split("#")[1] ?? ""
  const token = yield* signInForFirstTime(first.url, Redacted.make(secret))
  const client = yield* makeClient({ baseUrl: first.url, token })
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const [workspace] = workspaces
  if (workspace === undefined) return yield* Effect.die(new Error("The account has no Workspace."))
  const lease = options.leaseSeconds === undefined ? [] : ["--lease", String(options.leaseSeconds)]
  yield* operator("pool", "create", "far", ...lease)
  yield* operator("pool", "assign", "far", workspace.handle)
  const isProvided = options.leavesCredential === true
  const provide = operator("pool", "provide", "far", ownName, workspace.handle)
  if (isProvided) yield* provide
  const { connection } = yield* client.connections.create({
    payload: {
      workspaceId: workspace.id,
      provider,
      displayName: "demo",
      ...(isProvided
        ? { providedBy: { pool: PoolName.make("far"), name: ownName } }
        : { values: { DEMO_TOKEN: credential } })
    }
  })

  /** Writes an agent's credentials to files, and returns the environment variable that refers to them. */
  const ownCredentials = Effect.fnUntraced(function* (
    value: string = credential,
    more: { readonly label?: string } = {}
  ) {
    // A folder that the verdict does not search, because the secret is expected there.
    const kept = yield* files.makeTempDirectoryScoped({ prefix: "own-credentials-" })
    yield* files.writeFileString(`${kept}/token`, `${value}\n`, { mode: 0o600 })
    // The test provider works only without isolation.
    const described = { [ownName]: { env: { DEMO_TOKEN: { file: `${kept}/token` } }, withoutIsolation: true, ...more } }
    yield* files.writeFileString(`${kept}/credentials.json`, JSON.stringify(described))
    return { SVC_AGENT_CREDENTIALS: `${kept}/credentials.json` }
  })

  const agents: Array<string> = []
  const lines: Array<FaultLine> = []

  const lineOf = (options: Parameters<typeof faultLine>[1]) =>
    Effect.tap(faultLine(first.url, options), (made) => Effect.sync(() => lines.push(made)))
  const line = lineOf({})

  /** Prepares an agent with its own connection, but does not start it. */
  const agent = Effect.fnUntraced(function* (name: string, given: AgentOptions = {}) {
    // Uses the documented commands, which pass files to each other.
    const tokenFile = `${yield* files.makeTempDirectoryScoped({ prefix: "enrolment-" })}/token`
    yield* files.writeFileString(tokenFile, yield* atTerminal("agent", "token", "--pool", "far"), { mode: 0o600 })
    const own = given.line ?? (yield* line)
    const { user } = given
    const home = user === undefined ? folder : yield* files.makeTempDirectoryScoped({ prefix: "agent-of-user-" })
    const dir = given.folder ?? `${home}/agent-${name}`
    if (user !== undefined) {
      for (const path of [home, dirname(tokenFile), tokenFile]) yield* files.chown(path, user, user)
    }
    agents.push(dir)
    const flags = {
      server: given.server ?? own.url,
      pool: "far",
      dir,
      name,
      places: String(given.places ?? 2),
      "token-file": tokenFile,
      log: "debug"
    }
    const as = user === undefined ? [] : ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"]
    const program = [...as, ...(given.program ?? [options.agent ?? options.server])]
    const command = [...program, "agent", ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value])]
    const start = started(command, {
      cwd: home,
      env: {
        ...env,
        HOME: home,
        SVC_RUNNER_ISOLATION: isolation,
        // An agent that runs as another user cannot read the provider mirror.
        ...(user === undefined ? { SVC_PROVIDER_MIRROR: mirror.path, SVC_PROVIDER_MIRROR_REQUIRED: "true" } : {}),
        ...given.env
      },
      output
    })
    /** Makes the agent request new keys, as its operator would. */
    const rotated = Effect.scoped(
      Effect.gen(function* () {
        const command = [...program, "agent", "rotate", "--dir", dir, "--json"]
        return yield* Stream.mkString(read((yield* started(command, { cwd: folder, env, output })).stdout))
      })
    )
    /** Available after the agent has enrolled. */
    const id = files.readFileString(`${dir}/agent.json`).pipe(
      Effect.flatMap(Schema.decodeEffect(Enrolled)),
      Effect.map(({ agentId }) => agentId)
    )
    return { start, folder: dir, line: own, rotated, id }
  })

  const capsules = new Map<string, CapsuleId>()

  /** Installs a Capsule. Its plan waits for an agent. */
  const installed = Effect.fnUntraced(function* (
    label: string,
    module: ModuleName = "notes",
    workspaceId = workspace.id,
    attempt = 1
  ): Effect.fn.Return<{ readonly planRunId: RunId; readonly capsuleId: CapsuleId }, unknown> {
    const bindings = needsProvider(module)
      ? { providerBindings: [{ provider, moduleLocalName: "demo", connectionId: connection.id }] }
      : {}
    const { installPlan } = yield* client.installPlans.create({
      params: { workspaceId },
      headers: { "idempotency-key": `${label}-${attempt}` },
      payload: {
        source: { name: `${label}-${attempt}`, url: repository.url },
        capsule: { name: label, environment: "test" },
        variables: { password, label },
        options: { modulePath: pathOf(module), ...bindings },
        ...(module === "built" ? { initialConfiguration: { sourceBuild } } : {})
      }
    })
    const plan = yield* Effect.repeat(
      Effect.map(
        Effect.retry(client.installPlans.read({ params: { installPlanId: installPlan.id } }), {
          schedule: often,
          times: 400
        }),
        (answer) => answer.installPlan
      ),
      { until: ({ phase, planRunId }) => phase === "failed" || planRunId !== undefined, schedule: often }
    )
    const { capsuleId, planRunId } = plan
    if (planRunId === undefined || capsuleId === undefined) {
      // Retries, because the server spends only a few seconds reading a module, which may be too short on a busy machine.
      const isLate = plan.diagnostics.some(({ code }) => code === "parse_deadline")
      if (isLate && attempt < mostAttempts) return yield* installed(label, module, workspaceId, attempt + 1)
      return yield* new Broken({ message: `The install failed: ${JSON.stringify(plan.diagnostics)}` })
    }
    capsules.set(label, capsuleId)
    return { planRunId, capsuleId }
  })

  const run = (runId: RunId) => Effect.map(client.runs.read({ params: { runId } }), (answer) => answer.run)

  /** Keeps polling even while the server is down. */
  const until = (runId: RunId, isSo: (found: Run) => boolean) => {
    const read = Effect.retry(run(runId), { schedule: often, times: 4000 })
    return Effect.repeat(read, { until: isSo, schedule: often })
  }

  const approvedApply = Effect.fnUntraced(function* (planRunId: RunId) {
    yield* client.runs.approve({ params: { runId: planRunId }, payload: reviewed(yield* run(planRunId)) })
    const answer = yield* client.runs.apply({
      params: { runId: planRunId },
      headers: { "idempotency-key": `apply-${planRunId}` },
      payload: {}
    })
    return answer.run.id
  })

  /** Makes the provider wait during the given step for one note, until the test releases the note. */
  const holdOf = (step: "plan" | "apply") => ({
    hold: (note: string) => files.writeFileString(`${mirror.notesDir}/hold-${step}-${note}`, ""),
    held: (note: string) =>
      Effect.repeat(files.exists(`${mirror.notesDir}/held-${step}-${note}`), {
        until: (isHeld) => isHeld,
        schedule: often
      }),
    letGo: (note: string) => files.remove(`${mirror.notesDir}/hold-${step}-${note}`)
  })
  const eventsOf = Effect.fnUntraced(function* (runId: RunId) {
    const all: Array<RunEvent> = []
    for (let after = 0; ; ) {
      const page = yield* client.runs.events({ params: { runId }, query: { after, limit: 1000 } })
      if (page instanceof Response || !("events" in page)) return all
      all.push(...page.events)
      if (page.events.length === 0) return all
      after = page.nextAfter
    }
  })

  return {
    ...options,
    client,
    token,
    workspace,
    dataDir,
    output,
    notesDir: mirror.notesDir,
    /** The provider's files that must be visible in a sandbox. */
    interpreter: mirror.interpreter,
    first,
    /** The first server at its own address, with or without a balancer. */
    own,
    operator,
    line,
    /** Makes the agent and the server send no files within messages. */
    lineAsBefore: lineOf({ asBefore: true }),
    lines,
    agent,
    agents,
    connection,
    ownCredentials,
    capsules,
    installed,
    run,
    until,
    over: (runId: RunId) => until(runId, isOver),
    approvedApply,
    /** Waits for the current server to exit. */
    stopped: Effect.promise(async () => {
      current?.signal("SIGTERM")
      await current?.exited
    }),
    serveAgain: (more?: Readonly<Record<string, string>>) => serve(new URL(first.url).host, more),
    /** Starts another server, with a new data folder or the folder of a server that has ended. */
    serveIn: (ownFolder: string, more: Readonly<Record<string, string>>, program?: string) =>
      serve("127.0.0.1:0", more, ownFolder, program),
    /** While the provider is held during an apply, the held note already exists. */
    ...holdOf("apply"),
    plans: holdOf("plan"),
    eventsOf,
    leftOvers: (capsuleId: CapsuleId) =>
      Effect.map(
        client.leftOverStates.list({ params: { capsuleId }, query: {} }),
        ({ leftOverStates }) => leftOverStates.length
      ),
    capsule: (capsuleId: CapsuleId) =>
      Effect.map(client.capsules.read({ params: { capsuleId } }), (answer) => answer.capsule)
  }
}, Effect.provide(FetchHttpClient.layer))

export type AgentWorld = Effect.Success<ReturnType<typeof agentWorld>>
