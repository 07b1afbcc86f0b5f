import { NodeServices } from "@effect/platform-node"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { agentEnv } from "../../src/settings/AgentVariables.ts"
import { settingDefinitions } from "../../src/settings/SettingDefinitions.ts"
import { version } from "../../src/Version.ts"
import { suite } from "../support/Effect.ts"

/*
 * Helm renders a chart with Go's templates and Sprig's functions. `render/main.go` does the same, using Debian's packages
 * `golang-go`, `golang-github-masterminds-sprig-dev` and `golang-github-ghodss-yaml-dev`, so that the test needs neither
 * Helm nor a cluster.
 */

const root = fileURLToPath(new URL("../..", import.meta.url))

// Compiling the render program for the first time takes minutes on a busy machine.
setDefaultTimeout(400_000)
const tests = suite(NodeServices.layer)
afterAll(tests.dispose)
const possible = ["go", "tar"].every((name) => Bun.which(name) !== null)
if (!possible && process.env["SVC_TEST_REQUIRE_ALL"] !== undefined)
  throw new Error("The test of the chart needs Go and tar.")

const run = Effect.fnUntraced(function* (
  program: string,
  args: ReadonlyArray<string>,
  { env = {}, input = "" }: { readonly env?: Record<string, string>; readonly input?: string } = {}
) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const stdin = Stream.encodeText(Stream.make(input))
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd: root, extendEnv: true, env, stdin }))
  const text = (stream: typeof handle.stdout) => Stream.mkString(Stream.decodeText(stream))
  const [out, err, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
    concurrency: 3
  })
  return { out, err, code: Number(code) }
}, Effect.scoped)

const SecretEntry = Schema.Struct({ secretKeyRef: Schema.Struct({ name: Schema.String, key: Schema.String }) })
const FieldPath = Schema.Struct({ fieldRef: Schema.Struct({ fieldPath: Schema.String }) })
const EnvironmentVariable = Schema.Struct({
  name: Schema.String,
  value: Schema.optionalKey(Schema.String),
  valueFrom: Schema.optionalKey(Schema.Union([SecretEntry, FieldPath]))
})
const Mount = Schema.Struct({ name: Schema.String, mountPath: Schema.String })
const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Schema.String, port: Schema.String }) })
const Named = Schema.Struct({ name: Schema.String })
const Labels = Schema.Record(Schema.String, Schema.String)

const StatefulSet = Schema.Struct({
  kind: Schema.Literal("StatefulSet"),
  metadata: Named,
  spec: Schema.Struct({
    replicas: Schema.Int,
    selector: Schema.Struct({ matchLabels: Labels }),
    template: Schema.Struct({
      metadata: Schema.Struct({ labels: Labels }),
      spec: Schema.Struct({
        serviceAccountName: Schema.String,
        enableServiceLinks: Schema.Boolean,
        automountServiceAccountToken: Schema.Boolean,
        terminationGracePeriodSeconds: Schema.Int,
        hostUsers: Schema.optionalKey(Schema.Boolean),
        securityContext: Schema.Struct({
          runAsNonRoot: Schema.Boolean,
          seccompProfile: Schema.Struct({ type: Schema.String })
        }),
        containers: Schema.Tuple([
          Schema.Struct({
            image: Schema.String,
            args: Schema.optionalKey(Schema.Array(Schema.String)),
            env: Schema.Array(EnvironmentVariable),
            ports: Schema.optionalKey(Schema.Array(Named)),
            readinessProbe: Schema.optionalKey(Probe),
            livenessProbe: Schema.optionalKey(Probe),
            securityContext: Schema.Struct({
              allowPrivilegeEscalation: Schema.Boolean,
              readOnlyRootFilesystem: Schema.Boolean,
              procMount: Schema.optionalKey(Schema.String)
            }),
            volumeMounts: Schema.Array(Mount)
          })
        ]),
        volumes: Schema.Array(Named)
      })
    }),
    volumeClaimTemplates: Schema.Array(Schema.Struct({ metadata: Named })).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed([]))
    )
  })
})

const Manifest = Schema.Struct({ kind: Schema.String, metadata: Schema.Struct({ name: Schema.String }) })
const decodeManifests = Schema.decodeUnknownEffect(Schema.Array(Manifest))
const decodeStatefulSet = Schema.decodeUnknownEffect(StatefulSet)
const Rendered = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))

/** Packs the chart, and unpacks the archive. */
const packed = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-chart-test-" })
  const done = yield* run(process.execPath, ["scripts/chart.ts", "--out", folder])
  expect(done).toMatchObject({ code: 0 })
  yield* run("tar", ["--extract", "--file", `${folder}/svc-${version}.tgz`, "--directory", folder])
  return folder
})

/** Packs the chart, and compiles the program that renders it. */
const prepared = Effect.gen(function* () {
  const folder = yield* packed
  const go = { GO111MODULE: "off", GOPATH: "/usr/share/gocode", GOCACHE: `${root}dist/test/go-cache` }
  const built = yield* run("go", ["build", "-o", `${folder}/render`, "test/chart/render/main.go"], { env: go })
  expect(built).toMatchObject({ code: 0 })
  return folder
})

const render = Effect.fnUntraced(function* (folder: string, values: Readonly<Record<string, unknown>>) {
  const input = JSON.stringify({ release: { Name: "svc", Namespace: "infra", Service: "Helm" }, values })
  return yield* run(`${folder}/render`, [`${folder}/svc`], { input })
})

const manifestsOf = Effect.fnUntraced(function* (folder: string, values: Readonly<Record<string, unknown>>) {
  const { code, err, out } = yield* render(folder, values)
  expect({ code, err }).toEqual({ code: 0, err: "" })
  const texts = yield* Schema.decodeUnknownEffect(Rendered)(out)
  const documents = Object.entries(texts)
    .filter(([name]) => name.endsWith(".yaml"))
    .flatMap(([, text]) => text.split(/^---$/m))
    .map((text): unknown => Bun.YAML.parse(text))
    .filter((document) => document !== null)
  const all = yield* decodeManifests(documents)
  const sets = yield* Effect.forEach(
    documents.filter((_, index) => all[index]?.kind === "StatefulSet"),
    (document) => decodeStatefulSet(document)
  )
  return { all, sets, texts }
})

const server = { baseUrl: "https://svc.example.com" }
const image = { repository: "registry.example.com/svc" }
const agent = { pool: "eu", server: "https://svc.example.com", enrolmentSecret: "enrolment", replicas: 3 }
const known = new Set([...Object.values(settingDefinitions).map(({ env }) => env), ...Object.values(agentEnv)])

describe.skipIf(!possible)("Helm chart", () => {
  tests.live("the chart renders one server with its volume, plus agents, and uses only settings that exist", () =>
    Effect.gen(function* () {
      const folder = yield* prepared
      const { all, sets, texts } = yield* manifestsOf(folder, {
        image,
        server: {
          ...server,
          settings: { SVC_BACKUP_INTERVAL: 12 },
          masterKey: { secret: "svc-key" },
          backups: { size: "5Gi" },
          ingress: { enabled: true, host: "svc.example.com" }
        },
        agents: [agent]
      })
      expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
        "Ingress svc",
        "Service svc",
        "ServiceAccount svc",
        "ServiceAccount svc-agent-eu",
        "StatefulSet svc",
        "StatefulSet svc-agent-eu"
      ])
      expect(texts["NOTES.txt"]).not.toContain("made its master key")
      for (const { spec } of sets) {
        const { metadata, spec: pod } = spec.template
        const [container] = pod.containers
        expect(metadata.labels).toMatchObject(spec.selector.matchLabels)
        expect(container.image).toBe(`registry.example.com/svc:${version}`)
        expect(container.env.filter(({ name }) => !known.has(name))).toEqual([])
        expect(new Set(container.env.map(({ name }) => name)).size).toBe(container.env.length)
        const volumes = [...pod.volumes, ...spec.volumeClaimTemplates.map((claim) => claim.metadata)]
        expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
          volumes.map(({ name }) => name).toSorted()
        )
        // A Service named `svc` would set SVC_PORT in the pod, and the program would reject it as a misspelt setting.
        expect(pod).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false })
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } })
        expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
      }
      const [eu, own] = sets.toSorted((left, right) => right.metadata.name.length - left.metadata.name.length)
      expect(own?.spec.replicas).toBe(1)
      expect(eu?.spec.replicas).toBe(3)
      expect(own?.spec.template.spec.containers[0]).toMatchObject({
        readinessProbe: { httpGet: { path: "/readyz", port: "http" } },
        livenessProbe: { httpGet: { path: "/healthz", port: "http" } },
        env: expect.arrayContaining([
          { name: "SVC_BASE_URL", value: "https://svc.example.com" },
          { name: "SVC_BACKUP_INTERVAL", value: "12" },
          { name: "SVC_MASTER_KEY_FILE", value: "/run/svc-key/master.key" }
        ])
      })
    })
  )

  tests.live(
    "the chart renders nodes on PostgreSQL without a volume, and lets a drain stop only one node at a time",
    () =>
      Effect.gen(function* () {
        const { all, sets, texts } = yield* manifestsOf(yield* prepared, {
          image,
          server: { ...server, replicas: 3, database: { secret: "svc-database" }, masterKey: { secret: "svc-key" } },
          agents: [agent]
        })
        expect(all.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toContain("PodDisruptionBudget svc")
        const nodes = sets.find(({ metadata }) => metadata.name === "svc")
        expect(nodes?.spec).toMatchObject({ replicas: 3, volumeClaimTemplates: [] })
        const [container] = nodes?.spec.template.spec.containers ?? []
        expect(container?.env).toContainEqual({
          name: "SVC_DATABASE_URL",
          valueFrom: { secretKeyRef: { name: "svc-database", key: "url" } }
        })
        expect(container?.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
          nodes?.spec.template.spec.volumes.map(({ name }) => name).toSorted()
        )
        expect(container?.env.filter(({ name }) => !known.has(name))).toEqual([])
        expect(texts["server.yaml"]).toMatch(/kind: PodDisruptionBudget[^]*maxUnavailable: 1/)
        expect(texts["server.yaml"]).toContain("topologyKey: kubernetes.io/hostname")
      })
  )

  tests.live("the chart refuses several nodes without PostgreSQL, and PostgreSQL without a shared master key", () =>
    Effect.gen(function* () {
      const folder = yield* prepared
      const refusal = (values: Readonly<Record<string, unknown>>) =>
        Effect.map(render(folder, { image, server: { ...server, ...values } }), ({ code, err }) => ({ code, err }))
      const database = { secret: "svc-database" }
      const masterKey = { secret: "svc-key" }
      expect(yield* refusal({ replicas: 2 })).toEqual({
        code: 1,
        err: expect.stringContaining("server.replicas above 1 needs server.database.secret")
      })
      expect(yield* refusal({ database })).toEqual({
        code: 1,
        err: expect.stringContaining("server.database.secret needs server.masterKey.secret")
      })
      expect(yield* refusal({ database, masterKey, backups: { size: "5Gi" } })).toEqual({
        code: 1,
        err: expect.stringContaining("server.backups has no use with server.database.secret")
      })
      expect((yield* refusal({ database, masterKey })).code).toBe(0)
    })
  )

  tests.live("packing the chart twice yields the same bytes, and the chart has the version of the checkout", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const [first, second] = [yield* packed, yield* packed]
      const archive = (folder: string) => files.readFile(`${folder}/svc-${version}.tgz`)
      expect(yield* archive(first)).toEqual(yield* archive(second))
      expect(yield* files.readFileString(`${first}/svc/Chart.yaml`)).toContain(
        `\nversion: ${version}\nappVersion: ${version}\n`
      )
    })
  )

  tests.live("the chart lets bubblewrap create namespaces only on request", () =>
    Effect.gen(function* () {
      const values = { image, server, isolation: { level: "required", namespaces: true } }
      const { sets, texts } = yield* manifestsOf(yield* prepared, values)
      expect(sets[0]?.spec.template.spec).toMatchObject({
        hostUsers: false,
        securityContext: { seccompProfile: { type: "Unconfined" } },
        containers: [{ securityContext: { procMount: "Unmasked" } }]
      })
      expect(texts["NOTES.txt"]).toContain("made its master key")
    })
  )

  tests.live("the chart's error contains the name of the missing value", () =>
    Effect.gen(function* () {
      const folder = yield* prepared
      const refusal = (values: Readonly<Record<string, unknown>>) =>
        Effect.map(render(folder, values), ({ err }) => err)
      expect(yield* refusal({ server })).toContain("image.repository names the image")
      expect(yield* refusal({ image })).toContain("server.baseUrl is the address in the browser")
      const { pool: _, ...nameless } = agent
      const agents = { image, server: { enabled: false }, agents: [nameless] }
      expect(yield* refusal(agents)).toContain("each entry of agents names its pool")
    })
  )
})
