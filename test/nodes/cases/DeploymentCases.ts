import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { started, type Started } from "../../agents/support/Processes.ts"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { balancerText, composedNodes, freePort, type Service, unitNodes } from "../support/Deployment.ts"
import type { NodesWorld } from "../support/NodesWorld.ts"
import { commandsWithin } from "../support/Progress.ts"
import type { NodesCase } from "./NodesCase.ts"

const often = Schedule.spaced("100 millis")
/** Longer than the silence after which a node counts as gone. */
const frozenFor = 14_000
const deadFor = 6000
const requestWithin = 5000
const serverFault = 500

/** Starts a program again as its supervisor would. */
const supervised = Effect.fnUntraced(function* (
  { command, env, name, restartsAlways }: Service,
  { folder, output }: { readonly folder: string; readonly output: string }
) {
  let current: Started | undefined
  let starts = 0
  const life = Effect.scoped(
    Effect.gen(function* () {
      current = yield* started(command, { cwd: folder, env, output })
      starts += 1
      return yield* Effect.promise(() => current?.exited ?? Promise.resolve(0))
    })
  )
  yield* Effect.forkScoped(
    Effect.repeat(life, { while: (code) => restartsAlways || code !== 0, schedule: Schedule.spaced("2 seconds") })
  )
  return { name, starts: () => starts, signal: (kind: "SIGKILL" | "SIGSTOP" | "SIGCONT") => current?.signal(kind) }
})

const isReady = (url: string) =>
  Effect.promise(() =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(requestWithin) }).then(
      ({ ok }) => ok,
      () => false
    )
  )

const untilSo = <A, E>(what: string, look: Effect.Effect<A, E>, isSo: (found: A) => boolean) =>
  Effect.repeat(look, { until: isSo, schedule: often }).pipe(
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => Effect.flatMap(look, (found) => new Broken({ message: `${what}: ${JSON.stringify(found)}` }))
    })
  )

/** Longest time without an answer of the balancer that comes from a node, in milliseconds. */
const longestSilence = Effect.fnUntraced(function* (url: string, lasts: number) {
  const until = performance.now() + lasts
  let answeredAt = performance.now()
  let silence = 0
  while (performance.now() < until) {
    // The API refuses the request, because it has no token. Only the balancer answers with 500 or more.
    const status = yield* Effect.promise(() =>
      fetch(`${url}/api/v1/workspaces`, { signal: AbortSignal.timeout(requestWithin) }).then(
        (answer) => answer.status,
        () => 0
      )
    )
    silence = Math.max(silence, performance.now() - answeredAt)
    if (status > 0 && status < serverFault) answeredAt = performance.now()
    yield* Effect.sleep("100 millis")
  }
  return silence
})

/**
 * Starts the nodes of a file with its commands and environment, and HAProxy with the documented configuration, without a container
 * engine or systemd. This machine replaces several, so only these parts of the files are replaced: the program's path, the data
 * folders, the names and ports of the machines, the database's address, and the requirement of TLS to it.
 */
const deployed = (
  name: string,
  isShort: boolean,
  nodesOf: (folder: string) => Effect.Effect<ReadonlyArray<Service>, unknown>
): NodesCase => ({
  name,
  isShort,
  run: Effect.fnUntraced(function* (world: NodesWorld, label) {
    const folder = `${world.folder}/${label}`
    mkdirSync(folder, { recursive: true })
    const own = yield* world.emptyDatabase
    const front = yield* freePort
    const services = yield* nodesOf(folder)
    const nodes = yield* Effect.forEach(services, (service) =>
      Effect.gen(function* () {
        const port = yield* freePort
        const [program, ...args] = service.command
        yield* holds(program === "/usr/local/bin/svc", `${service.name} starts ${service.command.join(" ")}`)
        const { env } = service
        yield* holds(
          env["SVC_DATABASE_URL"]?.startsWith("postgres://svc:") === true && env["SVC_LISTEN"] === "0.0.0.0:8787",
          `${service.name} has the environment ${Object.keys(env).join(", ")}`
        )
        const given = {
          PATH: process.env["PATH"] ?? "",
          HOME: folder,
          ...env,
          SVC_DATABASE_URL: own.environment.SVC_DATABASE_URL,
          SVC_DATA_DIR: `${folder}/${service.name}`,
          SVC_LISTEN: `127.0.0.1:${port}`,
          ...(env["SVC_OPERATOR_LISTEN"] === undefined ? {} : { SVC_OPERATOR_LISTEN: `127.0.0.1:${yield* freePort}` }),
          SVC_BASE_URL: (env["SVC_BASE_URL"] ?? "").replace("127.0.0.1:8787", `127.0.0.1:${front}`)
        }
        const one = { ...service, command: [world.options.agent, ...args], env: given }
        return { url: `http://127.0.0.1:${port}`, port, ...(yield* supervised(one, { folder, output: world.output })) }
      })
    )
    const text = nodes.reduce(
      (config, { name: node, port }) => config.replace(`${node}:8787`, `127.0.0.1:${port}`),
      balancerText().replace("bind :8787", `bind 127.0.0.1:${front}`)
    )
    writeFileSync(`${folder}/haproxy.cfg`, text)
    const env = { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` }
    yield* started(["haproxy", "-db", "-f", `${folder}/haproxy.cfg`], { cwd: folder, env, output: world.output })
    const url = `http://127.0.0.1:${front}`

    const all = Effect.forEach(nodes, (node) => isReady(node.url), { concurrency: "unbounded" })
    const allReady = untilSo("Nodes are not ready", all, (found) => found.every(Boolean))
    yield* allReady
    yield* untilSo("The balancer has no ready node", isReady(url), (found) => found)
    const alive = own.query("SELECT id FROM nodes WHERE gone_at IS NULL")
    yield* holds((yield* alive).length === nodes.length, "The nodes do not share the database")
    const [, second, third] = nodes
    if (second === undefined || third === undefined) return yield* Effect.die(new Error("There are too few nodes"))
    second.signal("SIGKILL")
    const afterDeath = yield* longestSilence(url, deadFor)
    yield* allReady
    third.signal("SIGSTOP")
    const afterFreeze = yield* longestSilence(url, frozenFor)
    third.signal("SIGCONT")
    yield* untilSo("The frozen node did not end", Effect.sync(third.starts), (starts) => starts > 1)
    yield* allReady
    yield* untilSo("Nodes are missing", alive, (found) => found.length === nodes.length)
    yield* holds(
      Math.max(afterDeath, afterFreeze) <= commandsWithin,
      `Nobody answered for ${Math.round(afterDeath)} ms after a death, ${Math.round(afterFreeze)} ms after a freeze`
    )
  })
})

export const deploymentCases: ReadonlyArray<NodesCase> = [
  deployed("the compose file's nodes survive a death and a freeze behind the documented balancer", true, composedNodes),
  deployed("the systemd unit's nodes survive a death and a freeze behind the documented balancer", false, () =>
    Effect.sync(() => unitNodes(randomBytes(32).toString("hex")))
  )
]
