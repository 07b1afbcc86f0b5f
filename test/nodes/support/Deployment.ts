import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"
import { Effect, Schema } from "effect"

/** A program as a file of the documentation starts it. */
export interface Service {
  readonly name: string
  readonly command: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  /** True if the program starts again even after it has ended with success. */
  readonly restartsAlways: boolean
}

const textOf = (file: string) => readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), "utf8")

/** Continued lines count as one. */
const linesOf = (text: string) => text.replaceAll("\\\n", " ").split("\n")

const pair = (text: string): readonly [string, string] => {
  const at = text.indexOf("=")
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

const Command = Schema.fromJsonString(Schema.Array(Schema.String))
const Values = Schema.Record(Schema.String, Schema.String)
const Composed = Schema.Struct({
  services: Schema.Record(
    Schema.String,
    Schema.Struct({
      command: Schema.optionalKey(Schema.Array(Schema.String)),
      environment: Schema.optionalKey(Values),
      restart: Schema.optionalKey(Schema.String)
    })
  )
})

/** The command and the environment of the image. */
const readImage = Effect.gen(function* () {
  const lines = linesOf(textOf("docs/operations/Containerfile"))
  const after = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? "[]"
  const env = Object.fromEntries(after("ENV").trim().split(/\s+/).map(pair))
  const read = Schema.decodeEffect(Command)
  return { entrypoint: yield* read(after("ENTRYPOINT")), command: yield* read(after("CMD")), env }
})

/** The command in the compose file's comment that writes its `.env`, executed in a folder. */
const writtenEnvironment = (folder: string, text: string) => {
  const [, command = ""] = /^#\s+(printf .*> \.env)$/m.exec(text) ?? []
  execFileSync("sh", ["-c", command], { cwd: folder })
  const lines = readFileSync(`${folder}/.env`, "utf8").trim().split("\n")
  return Object.fromEntries(lines.map(pair))
}

/** The nodes of the compose file. */
export const composedNodes = Effect.fnUntraced(function* (folder: string) {
  const text = textOf("examples/nodes/compose.yaml")
  const { services } = yield* Schema.decodeUnknownEffect(Composed)(Bun.YAML.parse(text))
  const image = yield* readImage
  const written: Readonly<Record<string, string>> = writtenEnvironment(folder, text)
  const filled = (value: string) => value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => written[name] ?? "")
  return Object.entries(services)
    .filter(([name]) => name.startsWith("node-"))
    .map(
      ([name, { command = image.command, environment = {}, restart }]): Service => ({
        name,
        command: [...image.entrypoint, ...command],
        env: {
          ...image.env,
          ...Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, filled(value)]))
        },
        restartsAlways: restart === "always"
      })
    )
})

/** Three machines with the unit, its file for nodes, and the settings in that file's comment. */
export const unitNodes = (masterKey: string): ReadonlyArray<Service> => {
  const unit = textOf("docs/operations/svc.service")
  const drop = textOf("examples/nodes/node.conf")
  const directives = [...linesOf(unit), ...linesOf(drop)].filter((line) => /^\w+=/.test(line)).map(pair)
  const last = (name: string) => directives.findLast(([key]) => key === name)?.[1] ?? ""
  const settings = linesOf(drop).flatMap((line) => {
    const [, setting] = /^#\s+(SVC_\w+=.*)$/.exec(line) ?? []
    return setting === undefined ? [] : [pair(setting)]
  })
  const env = Object.fromEntries([
    ...directives.filter(([key]) => key === "Environment").map(([, value]) => pair(value)),
    ...settings
  ])
  return [1, 2, 3].map((number) => ({
    name: `node-${number}`,
    command: last("ExecStart").split(" "),
    env: { ...env, SVC_MASTER_KEY: masterKey },
    restartsAlways: last("Restart") === "always"
  }))
}

export const balancerText = () => textOf("examples/nodes/haproxy.cfg")

/** A port that nobody used a moment ago, for programs that cannot choose one themselves. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
