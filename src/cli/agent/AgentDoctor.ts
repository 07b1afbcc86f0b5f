import { join, resolve } from "node:path"
import { Clock, Config, Effect, FileSystem, Layer, Option, Schema } from "effect"
import { Command } from "effect/cli"
import { HttpClient } from "effect/http"
import { existsSync, statSync } from "node:fs"
import { storedAgent } from "../../../runner/agent/AgentFolder.ts"
import { agentRpcPath } from "../../../schema/agent/Blob.ts"
import { AgentId } from "../../../schema/records/Ids.ts"
import { agentSandbox, agentTools } from "../../agent/AgentMachine.ts"
import { agentCalls } from "../../agent/AgentSession.ts"
import { agentMachineSettings } from "../../agent/AgentSettings.ts"
import { keyLifetime } from "../../agent/KeyChange.ts"
import { type AnyFinding, formatFindings, isHealthy } from "../doctor/DoctorReport.ts"
import { jsonFlag, print, refused } from "../Output.ts"
import { dirFlag, folderOf, serverFlag, serverOf } from "./AgentFlags.ts"
import { machineFindings } from "./AgentMachineFindings.ts"
import { keyAge } from "./KeyAge.ts"

const others = 0o077

const exposed = (path: string) => existsSync(path) && (statSync(path).mode & others) !== 0

const ofKeys = (who: string, { isOverdue, message, remedy }: ReturnType<typeof keyAge>): AnyFinding => ({
  check: "key",
  status: isOverdue ? "warning" : "ok",
  message: `${who} ${message}`,
  ...(remedy === undefined ? {} : { remedy })
})

/** Checks an agent's folder and key, but creates neither. */
const folderFindings = Effect.fnUntraced(function* (folder: string) {
  if (!existsSync(join(folder, "agent.json"))) {
    const finding: AnyFinding = {
      check: "key",
      status: "warning",
      message: `${folder} contains no enrolled agent yet.`,
      remedy: "The first start of svc agent enrols it, with an enrolment token."
    }
    return [finding]
  }
  const open = [folder, join(folder, "keys.json"), join(folder, "agent.json")].filter(exposed)
  const found = yield* Effect.result(Effect.all(storedAgent(folder)))
  if (found._tag === "Failure") {
    const finding: AnyFinding = { check: "key", status: "error", message: found.failure.message }
    return [finding]
  }
  const { identity, keys } = found.success
  const finding: AnyFinding =
    open.length > 0
      ? {
          check: "key",
          status: "error",
          message: `Others may read ${open.join(", ")}.`,
          remedy: "Make the folder 0700 and its files 0600, and enrol again if somebody may have read the key."
        }
      : Option.isNone(identity) || Option.isNone(keys)
        ? { check: "key", status: "error", message: "The key of this agent is missing.", remedy: "Enrol again." }
        : ofKeys(
            `${identity.value.agentId} of the pool ${identity.value.pool} at ${identity.value.server}.`,
            keyAge(keys.value.madeAt, yield* keyLifetime, yield* Clock.currentTimeMillis)
          )
  return [finding]
})

const variable = (...names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    for (const name of names) {
      const value = yield* Config.option(Config.NonEmptyString(name)).pipe(Effect.orElseSucceed(() => Option.none()))
      if (Option.isSome(value)) return value.value
    }
    return undefined
  })

/** Returns the address of a proxy without the password, or `undefined` if the text is not an address. */
const proxyAddress = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined
  const { host, protocol } = new URL(text)
  return /^https?:$/.test(protocol) && host !== "" ? `${protocol}//${host}` : undefined
}

const proxyFinding = Effect.gen(function* () {
  const proxy = yield* variable("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
  const exceptions = yield* variable("NO_PROXY", "no_proxy")
  const address = proxy === undefined ? undefined : proxyAddress(proxy)
  if (proxy !== undefined && address === undefined) {
    const broken: AnyFinding = {
      check: "proxy",
      status: "error",
      message: "The proxy variable does not contain a proxy address.",
      remedy: "Set HTTPS_PROXY to an address such as http://proxy.example.com:3128, or remove it."
    }
    return broken
  }
  const finding: AnyFinding = {
    check: "proxy",
    status: "ok",
    message:
      address === undefined
        ? "None: the server is reached directly."
        : `${address}${exceptions === undefined ? "" : `, except for ${exceptions}`}.`
  }
  return finding
})

const authorityFinding = Effect.gen(function* () {
  const file = yield* variable("NODE_EXTRA_CA_CERTS")
  if (file === undefined) {
    const finding: AnyFinding = {
      check: "ca",
      status: "ok",
      message: "Only public certificate authorities are trusted."
    }
    return finding
  }
  const files = yield* FileSystem.FileSystem
  const content = yield* Effect.option(files.readFileString(file))
  const wrong = Option.match(content, {
    onNone: () => "which cannot be read",
    onSome: (text) =>
      text.includes("-----BEGIN CERTIFICATE-----") ? undefined : "which contains no certificate in PEM format"
  })
  const finding: AnyFinding =
    wrong === undefined
      ? { check: "ca", status: "ok", message: `Those of ${file} are trusted too.` }
      : {
          check: "ca",
          status: "error",
          message: `NODE_EXTRA_CA_CERTS names ${file}, ${wrong}.`,
          remedy: "Correct the variable, or remove it."
        }
  return finding
})

const anyAgent = Schema.decodeUnknownSync(AgentId)("agt_00000000000000000000000000")
const longestAnswer = "10 seconds"

const notFound = 404

/** Returns the HTTP status of the server's response to an agent message. */
const statusOf = Effect.fnUntraced(function* (server: string) {
  const client = yield* HttpClient.HttpClient
  const { status } = yield* Effect.timeout(client.post(`${server}${agentRpcPath}`), longestAnswer)
  return status
})

/** Checks whether the server responds like a server that supports agents. A refusal is accepted as a response. */
const addressFinding = (server: string) =>
  Effect.gen(function* () {
    const calls = yield* agentCalls(server, (request) => request)
    const problem = yield* Effect.flip(Effect.timeout(calls.Challenge({ agentId: anyAgent }), longestAnswer)).pipe(
      Effect.option
    )
    if (Option.isNone(problem) || !["RpcClientError", "TimeoutError"].includes(problem.value._tag)) {
      const finding: AnyFinding = { check: "address", status: "ok", message: `${server} responds to agents.` }
      return finding
    }
    // Query the status separately: the RPC client cannot read a response that does not follow the protocol, and its error
    // message does not include the status.
    const status = problem.value._tag === "RpcClientError" ? yield* Effect.option(statusOf(server)) : Option.none()
    const finding: AnyFinding = Option.contains(status, notFound)
      ? {
          check: "address",
          status: "error",
          message: `${server} responds, but has no agents: if it is svc, it has no pool yet, or is of a release without agents.`,
          remedy: "Check the address and the proxy, and create a pool on the control plane: svc admin pool create NAME."
        }
      : {
          check: "address",
          status: "error",
          message: `${server} does not answer to agents. ${problem.value.message}`,
          remedy: "Check the address, the proxy, and whether this release of the server has agents."
        }
    return finding
  }).pipe(Effect.scoped)

const millisecondsInSecond = 1000
/**
 * Largest clock difference, in seconds, that does no harm. Cloud APIs refuse requests if the time in their signature is
 * minutes in the past or in the future.
 */
const harmlessOffset = 60

/**
 * Compares the agent's clock with the server's. svc does not depend on the agent's clock, but the tools in its Runs call other
 * services.
 */
const clockFinding = (server: string) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const response = yield* Effect.timeout(client.head(server), longestAnswer)
    const at = Date.parse(response.headers["date"] ?? "")
    const offset = Math.round((Date.now() - at) / millisecondsInSecond)
    if (Number.isNaN(at)) {
      const finding: AnyFinding = { check: "clock", status: "ok", message: "The server does not say its time." }
      return finding
    }
    const message = `${Math.abs(offset)} s ${offset < 0 ? "behind" : "ahead of"} the server.`
    const finding: AnyFinding =
      Math.abs(offset) <= harmlessOffset
        ? { check: "clock", status: "ok", message }
        : {
            check: "clock",
            status: "warning",
            message: `${message} Leases do not depend on it, but cloud APIs refuse requests that are signed with such a time.`,
            remedy: "Set the clock by NTP."
          }
    return finding
  }).pipe(
    Effect.orElseSucceed(
      (): AnyFinding => ({ check: "clock", status: "warning", message: "The server could not be asked for its time." })
    )
  )

const networkFindings = Effect.fnUntraced(function* (server: string | undefined) {
  const here = [yield* proxyFinding, yield* authorityFinding]
  if (server === undefined) {
    const finding: AnyFinding = {
      check: "address",
      status: "error",
      message: "It is not said which server.",
      remedy: "Give --server https://svc.example.com, or SVC_AGENT_SERVER."
    }
    return [finding, ...here]
  }
  return [yield* addressFinding(server), ...here, yield* clockFinding(server)]
})

/** Checks everything that an agent needs on this machine. Changes nothing. */
export const agentDoctorCommand = Command.make(
  "doctor",
  { server: serverFlag, dir: dirFlag, json: jsonFlag },
  Effect.fn("agent doctor")(function* ({ dir, json, server }) {
    const folder = resolve(yield* folderOf(dir))
    const origin = yield* Effect.option(serverOf(server))
    const settings = yield* agentMachineSettings(folder)
    const machine = yield* machineFindings(folder).pipe(
      Effect.provide(
        Layer.merge(
          agentTools(folder),
          agentSandbox({ ...settings, sandbox: { ...settings.sandbox, ownFolder: undefined } })
        )
      )
    )
    const found: ReadonlyArray<AnyFinding> = [
      ...(yield* networkFindings(Option.getOrUndefined(origin))),
      ...(yield* folderFindings(folder)),
      ...machine
    ]
    const healthy = isHealthy(found)
    yield* print(json, { healthy, findings: found }, formatFindings(found))
    if (!healthy) return yield* refused("This agent or its surroundings need attention.")
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Check address, proxy, certificate authority, key, clock, disk, tool, sandbox, limits and network of an agent, without changes; exits with 1 if a check fails"
  ),
  Command.withExamples([
    {
      command: "svc agent doctor --server https://svc.example.com",
      description: "Before the first start, or if Runs wait"
    }
  ])
)
