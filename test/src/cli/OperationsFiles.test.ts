import { readdir } from "node:fs/promises"
import { describe, expect } from "bun:test"
import { Effect, FileSystem, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { agentEnv } from "../../../src/settings/AgentVariables.ts"
import { settingDefinitions, settingsFileEnv } from "../../../src/settings/SettingDefinitions.ts"
import { commandHelps } from "../../../scripts/CommandReference.ts"
import { isClientCommand } from "../../../src/cli/ClientCommandNames.ts"
import { live, svc } from "./support/CommandLine.ts"

const documents = fileURLToPath(new URL("../../../docs", import.meta.url))
const textOf = (name: string) =>
  Effect.flatMap(FileSystem.FileSystem, (files) => files.readFileString(`${documents}/${name}`))

const known: ReadonlySet<string> = new Set([
  ...Object.values(settingDefinitions).map(({ env }) => env),
  settingsFileEnv
])
const variablesIn = (text: string) => [...text.matchAll(/\b(SVC_[A-Z0-9_]+)=/g)].map(([, name = ""]) => name)

/** Returns the effective directives of a unit. */
const directivesOf = (unit: string) =>
  new Map(
    unit
      .split("\n")
      .filter((line) => /^[A-Z]\w*=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const)
  )

// Each of these directives breaks the sandbox. With the last five, systemd mounts something over a part of /proc, and then no
// process can mount a private /proc.
const breakingSandbox = [
  "RestrictNamespaces",
  "ProtectKernelTunables",
  "ProtectKernelLogs",
  "ProtectHostname",
  "ProtectProc",
  "ProcSubset"
]

describe("Operations files", () => {
  live("the systemd unit in docs/operations allows the sandbox and uses settings that exist", () =>
    Effect.gen(function* () {
      const unit = yield* textOf("operations/svc.service")
      const directives = directivesOf(unit)
      expect(breakingSandbox.filter((name) => directives.has(name))).toEqual([])
      expect(directives.get("SystemCallFilter")).not.toMatch(/@mount|@privileged|@process|@resources/)
      expect(variablesIn(unit).filter((name) => !known.has(name))).toEqual([])
      expect(variablesIn(unit)).toContain("SVC_RUNNER_ISOLATION")
      const flags = [...(directives.get("ExecStart") ?? "").matchAll(/ (--[a-z-]+)/g)].map(([, flag = ""]) => flag)
      const { out } = yield* svc(["serve", "--help"])
      for (const flag of flags) expect(out).toContain(`${flag} `)
    })
  )

  live("the image in docs/operations allows the sandbox and uses settings that exist", () =>
    Effect.gen(function* () {
      const image = yield* textOf("operations/Containerfile")
      expect(variablesIn(image).filter((name) => !known.has(name))).toEqual([])
      // The owner of a new volume is the owner of its folder in the image.
      expect(image).toContain("--volume svc-backups:/srv/backups")
      expect(image).toContain("install -d -m 0700 -o svc -g svc /srv/backups")
      const profile: {
        readonly defaultAction: string
        readonly syscalls: ReadonlyArray<{ readonly names: ReadonlyArray<string> }>
      } = JSON.parse(yield* textOf("operations/seccomp.json"))
      const denied = profile.syscalls.flatMap(({ names }) => names)
      const needed = ["clone", "clone3", "unshare", "setns", "mount", "umount2", "pivot_root", "capset", "prctl"]
      expect([profile.defaultAction, needed.filter((name) => denied.includes(name))]).toEqual(["SCMP_ACT_ALLOW", []])
    })
  )

  live(
    "the files for several nodes use existing settings, and every node of the compose file has the same settings",
    () =>
      Effect.gen(function* () {
        const drop = yield* textOf("../examples/nodes/node.conf")
        expect(variablesIn(drop).filter((name) => !known.has(name))).toEqual([])
        const compose = Bun.YAML.parse(yield* textOf("../examples/nodes/compose.yaml"))
        const { services } = yield* Schema.decodeUnknownEffect(
          Schema.Struct({
            services: Schema.Record(
              Schema.String,
              Schema.Struct({ environment: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) })
            )
          })
        )(compose)
        const nodes = Object.entries(services).filter(([name]) => name.startsWith("node-"))
        expect(nodes.length).toBe(3)
        const [[, first] = ["", {}]] = nodes
        for (const [, node] of nodes) expect(node).toEqual(first)
        expect(Object.keys(first.environment ?? {}).filter((name) => !known.has(name))).toEqual([])
        const balancer = yield* textOf("../examples/nodes/haproxy.cfg")
        for (const [name] of nodes) expect(balancer).toContain(`server ${name} ${name}:8787`)
      })
  )

  live("the agent unit in docs/operations uses existing flags and variables, and allows the sandbox", () =>
    Effect.gen(function* () {
      const unit = yield* textOf("../examples/agent/svc-agent@.service")
      const image = yield* textOf("../examples/agent/Containerfile")
      const environment = yield* textOf("../examples/agent/environment")
      const directives = directivesOf(unit)
      expect(breakingSandbox.filter((name) => directives.has(name))).toEqual([])
      expect(directives.get("SystemCallFilter")).not.toMatch(/@mount|@privileged|@process|@resources/)
      const ofAgents = new Set<string>([...known, ...Object.values(agentEnv)])
      const named = [unit, image, environment].flatMap(variablesIn)
      expect(named).toContain("SVC_AGENT_PLACES")
      expect(named.filter((name) => !ofAgents.has(name))).toEqual([])
      const { out } = yield* svc(["agent", "--help"])
      const [, entry = ""] = /ENTRYPOINT (.*)/.exec(image) ?? []
      const flags = [...`${directives.get("ExecStart")} ${entry}`.matchAll(/(--[a-z-]+)/g)].map(([flag]) => flag)
      expect(flags).toContain("--token-file")
      expect(directives.get("RestartPreventExitStatus")).toBe("2")
      // An upgrade moves the service from one systemd instance to another. If both instances were enabled, they would
      // compete for the data folder after a reboot.
      expect(unit).toMatch(/systemctl disable .*svc-agent@a && systemctl enable .*svc-agent@b$/m)
      for (const flag of flags) expect(out).toContain(flag)
    })
  )

  live("the chapters in docs/operations contain only existing commands", () =>
    Effect.gen(function* () {
      const chapters = yield* Effect.promise(() => readdir(new URL("../../../docs/operations", import.meta.url)))
      const texts = yield* Effect.forEach(
        chapters.filter((name) => name.endsWith(".md")),
        (name) => textOf(`operations/${name}`)
      )
      const page = texts.join("\n")
      const [, list = ""] = /^`svc ((?:\w+ \| )+\w+)`/m.exec(page) ?? []
      const offered = (yield* commandHelps)
        .filter(({ path }) => path.length === 1 && !isClientCommand(path))
        .map(({ path: [name = ""] }) => name)
      expect(list.split(" | ").toSorted()).toEqual(offered.toSorted())
      for (const [, name = ""] of page.matchAll(/`svc admin ([a-z-]+)/g)) {
        expect([name, (yield* svc(["admin", name, "--help"])).code]).toEqual([name, 0])
      }
    })
  )
})
