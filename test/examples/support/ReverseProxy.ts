import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect, FileSystem } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { eventually } from "../../support/Eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const examples = fileURLToPath(new URL("../../../examples/proxies", import.meta.url))

export type ProxyName = "nginx" | "caddy"

const programs: Record<ProxyName, string | null> = {
  nginx: existsSync("/usr/sbin/nginx") ? "/usr/sbin/nginx" : Bun.which("nginx"),
  caddy: Bun.which("caddy")
}

export const hasProxy = (name: ProxyName) => programs[name] !== null

interface Place {
  readonly folder: string
  /** The address of the proxy, `127.0.0.1:port`. */
  readonly listen: string
  /** The address of svc, `127.0.0.1:port`. */
  readonly upstream: string
}

/** Replaces the values that an example's comments ask the reader to replace. The example must contain each value. */
const filledIn = (text: string, replacements: Readonly<Record<string, string>>) =>
  Object.entries(replacements).reduce((filled, [from, to]) => {
    if (!filled.includes(from)) throw new Error(`The example does not contain ${from}.`)
    return filled.replaceAll(from, to)
  }, text)

const nginxWhole = (example: string, { folder, listen, upstream }: Place) => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${filledIn(example, {
  "127.0.0.1:8787": upstream,
  "listen 443 ssl": `listen ${listen} ssl`,
  "svc.example.com": "localhost",
  "/etc/ssl/svc/fullchain.pem": `${folder}/certificate.pem`,
  "/etc/ssl/svc/privkey.pem": `${folder}/key.pem`
})}
}`

const caddyWhole = (example: string, { folder, listen, upstream }: Place) =>
  `{\n\tadmin off\n\tauto_https disable_redirects\n\tgrace_period 100ms\n\tstorage file_system ${folder}/storage\n}\n${filledIn(
    example,
    {
      "127.0.0.1:8787": upstream,
      "svc.example.com {": `https://localhost:${new URL(`https://${listen}`).port} {\n\tbind 127.0.0.1\n\ttls ${folder}/certificate.pem ${folder}/key.pem`,
      "https://svc.example.com": "https://localhost"
    }
  )}`

const shapes = {
  nginx: {
    example: "nginx.conf",
    whole: nginxWhole,
    args: (folder: string) => ["-p", folder, "-e", `${folder}/error.log`, "-c", `${folder}/configuration`]
  },
  caddy: {
    example: "Caddyfile",
    whole: caddyWhole,
    args: (folder: string) => ["run", "--adapter", "caddyfile", "--config", `${folder}/configuration`]
  }
} as const

/** Creates a temporary certificate for localhost. */
const certify = (folder: string) =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const request = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2"
    ]
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    const files = ["-keyout", `${folder}/key.pem`, "-out", `${folder}/certificate.pem`]
    const made = yield* spawner.spawn(
      ChildProcess.make("openssl", [...request, ...subject, ...files], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore"
      })
    )
    yield* made.exitCode
  })

/** Runs the example's proxy in front of svc until the Scope closes. */
export const reverseProxy = Effect.fnUntraced(function* (name: ProxyName, listen: string, upstream: string) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* temporaryFolder
  const { args, example, whole } = shapes[name]
  yield* certify(folder)
  const text = yield* files.readFileString(`${examples}/${example}`)
  yield* files.writeFileString(`${folder}/configuration`, whole(text, { folder, listen, upstream }))
  const server = yield* spawner.spawn(
    ChildProcess.make(programs[name] ?? "", args(folder), {
      extendEnv: false,
      env: { HOME: folder, PATH: process.env["PATH"] ?? "" },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore"
    })
  )
  const health = `https://localhost:${new URL(`https://${listen}`).port}/healthz`
  const answers = eventually(
    Effect.promise(() =>
      fetch(health, { tls: { rejectUnauthorized: false } }).then(
        ({ status }) => status,
        () => 0
      )
    ),
    (status) => status === 200
  )
  const ended = Effect.flatMap(server.exitCode, (code) => Effect.die(new Error(`${name} ended with ${String(code)}`)))
  yield* Effect.raceFirst(answers, ended)
})
